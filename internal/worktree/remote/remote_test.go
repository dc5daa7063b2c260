package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree/checkout"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// large has 5,000 files.
func large(t *testing.T) string {
	t.Helper()
	return worktreetest.Copied(t, "large", func(dir string) {
		runGit(t, dir, "init", "-q", "-b", "main", "--template=")
		for i := range 5000 {
			write(t, dir, fmt.Sprintf("d%d/f%d", i/100, i%100), fmt.Sprintf("content of file %d\n", i))
		}
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-qm", "one")
	})
}

// TestAPushSendsOnlyTheChange: one file of 5,000 costs less than 4 KB up, though the host's branch has moved on to a commit that
// is not here; and a fetch gets no more.
func TestAPushSendsOnlyTheChange(t *testing.T) {
	t.Parallel()
	const most = 4 << 10
	dir := large(t)
	first := newHost(t, dir)
	tree, other := open(t, dir), open(t, first.clone(t))
	for i, kind := range []string{"daemon", "path", "http"} {
		if !kit.Every(3, i) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			h := first.copy(t)
			ahead := strings.TrimSpace(runGit(t, h.dir, "commit-tree", "-p", "main", "-m", "ahead", "main^{tree}"))
			runGit(t, h.dir, "update-ref", "refs/heads/main", ahead)
			url := h.by(t, kind)
			here, far := openRemote(t, tree, url), openRemote(t, other, url)
			at := remote.Ref{Task: kind, Epoch: 1}
			for _, round := range []string{"first", "second"} {
				objects := strings.Count(runGit(t, h.dir, "rev-list", "--objects", "--all"), "\n")
				up := h.up.Load()
				write(t, dir, "d7/f7", fmt.Sprintf("%s %s\n", kind, round))
				at = push(t, tree, here, at, h.main)
				used := h.up.Load() - up
				if now := strings.Count(runGit(t, h.dir, "rev-list", "--objects", "--all"), "\n"); now > objects+4 { // commit, two folders, file
					t.Errorf("%s push: %d objects became %d", round, objects, now)
				}
				if used > most {
					t.Errorf("%s push: %d bytes", round, used)
				}
				up, down := h.up.Load(), h.down.Load()
				s, err := far.Fetch(t.Context(), at, h.main)
				if err != nil || s.Tree != fingerprint(t, tree) || s.Base != h.main {
					t.Fatalf("%s fetch: %+v, %v", round, s, err)
				}
				if got, sent := h.down.Load()-down, h.up.Load()-up; got > most || sent > most {
					t.Errorf("%s fetch: %d bytes down, %d up", round, got, sent)
				} else {
					t.Logf("%s: push %d bytes up, fetch %d up, %d down", round, used, sent, got)
				}
				if round == "first" {
					continue
				}
				lay := checkout.New(filepath.Join(t.TempDir(), "lay"))
				if err := lay.Prepare(t.Context(), other, checkout.Layout{Tree: s.Tree}); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(filepath.Join(lay.Files(), "d7/f7"))
				if err != nil || string(text) != fmt.Sprintf("%s %s\n", kind, round) {
					t.Errorf("%s: %q, %v", round, text, err)
				}
				lay.Release()
			}
		})
	}
}

// TestARepeatedPushIsHarmless: equal trees have equal commits, and nothing of the user's changes.
func TestARepeatedPushIsHarmless(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	write(t, dir, "new", "x")
	before, objects := users(t, dir), worktreetest.Inventory(t, filepath.Join(dir, ".git", "objects"))
	tree := open(t, dir)
	r := openRemote(t, tree, h.dir)
	at := push(t, tree, r, epoch(1, ""), h.main)
	for _, from := range []remote.Ref{epoch(1, ""), at} {
		if again := push(t, tree, r, from, h.main); again != at {
			t.Errorf("%+v and %+v", at, again)
		}
	}
	// On another machine too.
	there := h.clone(t)
	write(t, there, "new", "x")
	other := open(t, there)
	if again := push(t, other, openRemote(t, other, h.dir), epoch(1, ""), h.main); again != at {
		t.Errorf("elsewhere: %+v and %+v", at, again)
	}
	if diff := cmp.Diff(map[string]string{"refs/ferrus/p/t/1": at.Commit}, h.refs(t)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, users(t, dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(objects, worktreetest.Inventory(t, filepath.Join(dir, ".git", "objects"))); diff != "" {
		t.Error(diff)
	}
}

// TestAnEmptyCloneContinues: a machine without the history fetches a snapshot, lays it out, and pushes the next one.
func TestAnEmptyCloneContinues(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, kind := range []string{"path", "daemon", "http"} {
			t.Run(format+" "+kind, func(t *testing.T) {
				t.Parallel()
				worktreetest.Isolate(t)
				dir := t.TempDir()
				runGit(t, dir, "init", "-q", "-b", "main", "--template=", "--object-format="+format)
				write(t, dir, "sub/a", "one")
				for _, text := range []string{"one", "two", "three"} {
					write(t, dir, "sub/b", text)
					runGit(t, dir, "add", "sub")
					runGit(t, dir, "commit", "-qm", text)
				}
				h := newHost(t, dir)
				url := h.by(t, kind)
				write(t, dir, "sub/a", "unfinished")
				tree := open(t, dir)
				at := push(t, tree, openRemote(t, tree, url), epoch(1, ""), h.main)

				empty := t.TempDir()
				runGit(t, empty, "init", "-q", "--template=", "--object-format="+format)
				other := open(t, empty)
				far := openRemote(t, other, url)
				s, err := far.Fetch(t.Context(), at, h.main)
				if err != nil || s.Tree != fingerprint(t, tree) {
					t.Fatalf("%+v, %v", s, err)
				}
				if _, err := restore.In(other).Restore(t.Context(), fingerprint(t, other), s.Tree, "t/edits"); err != nil {
					t.Fatal(err)
				}
				write(t, empty, "sub/c", "continued")
				next := push(t, other, far, epoch(2, ""), h.main)
				if s, err := openRemote(t, tree, url).Fetch(t.Context(), next, h.main); err != nil || s.Tree != fingerprint(t, other) {
					t.Errorf("%+v, %v", s, err)
				}
				runGit(t, h.dir, "fsck", "--strict")
				if log := runGit(t, h.dir, "log", "--format=%s", next.Commit); log != "ferrus\nthree\ntwo\none\n" {
					t.Errorf("log: %q", log)
				}
			})
		}
	}
}

// TestWorkTreesOfEveryKind travel as package worktree counts them.
func TestWorkTreesOfEveryKind(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, h *host, dir string) string{ // returns the project's folder
		"a sub-folder is the project": func(t *testing.T, h *host, dir string) string {
			write(t, dir, "src/c", "x")
			return filepath.Join(dir, "src")
		},
		"a base that was never pushed": func(t *testing.T, h *host, dir string) string {
			for i := range 3 {
				write(t, dir, "local", strings.Repeat("x", i+1))
				runGit(t, dir, "add", "local")
				runGit(t, dir, "commit", "-qm", "local")
			}
			return dir
		},
		"a shallow clone": func(t *testing.T, h *host, dir string) string {
			for i := range 3 {
				runGit(t, dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
			}
			runGit(t, dir, "push", "-q", "origin", "main")
			shallow := h.clone(t, "--depth=2")
			write(t, shallow, "new", "x")
			runGit(t, shallow, "add", ".")
			runGit(t, shallow, "commit", "-qm", "local")
			write(t, shallow, "new", "y")
			return shallow
		},
		"a submodule": func(t *testing.T, h *host, dir string) string {
			worktreetest.Embed(t, dir, "module", true)
			return dir
		},
		"a filter": func(t *testing.T, h *host, dir string) string {
			configure(t, dir, "[filter \"up\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n")
			write(t, dir, ".gitattributes", "*.up filter=up\n")
			write(t, dir, "a.up", "letters\n")
			return dir
		},
		"no commit that is a base": func(t *testing.T, h *host, dir string) string { return dir },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := committed(t)
			h := newHost(t, dir)
			there := open(t, h.clone(t))
			at := change(t, h, dir)
			base := head(t, at)
			if strings.HasPrefix(name, "no commit") {
				base = ""
			}
			tree := open(t, at)
			r := openRemote(t, tree, h.dir)
			if base != "" {
				if n, bytes, err := r.Ahead(t.Context(), base); err != nil || n == 0 || bytes == 0 {
					t.Errorf("%d commits ahead, %d bytes, %v", n, bytes, err)
				}
			}
			ref := push(t, tree, r, epoch(1, ""), base)
			s, err := openRemote(t, there, h.dir).Fetch(t.Context(), ref, base)
			if err != nil || s.Tree != fingerprint(t, tree) || s.Base != base {
				t.Errorf("%+v, %v", s, err)
			}
			runGit(t, h.dir, "fsck", "--strict")
		})
	}
}

// TestACheckBeforeTheFirstPushCountsCommits that the remote did not have when it was last fetched.
func TestACheckBeforeTheFirstPushCountsCommits(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	h := newHost(t, dir)
	addr := h.by(t, "daemon")
	runGit(t, dir, "remote", "set-url", "origin", addr)
	r := openRemote(t, open(t, dir), "origin")
	if n, bytes, err := r.Ahead(t.Context(), h.main); err != nil || n != 0 || bytes != 0 {
		t.Errorf("%d, %d, %v", n, bytes, err)
	}
	for range 2 {
		runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	}
	if n, bytes, err := r.Ahead(t.Context(), head(t, dir)); err != nil || n != 2 || bytes == 0 {
		t.Errorf("%d, %d, %v", n, bytes, err)
	}
	if n, _, err := openRemote(t, open(t, dir), addr).Ahead(t.Context(), h.main); err != nil || n != 1 {
		t.Errorf("by URL: %d, %v", n, err)
	}
}
