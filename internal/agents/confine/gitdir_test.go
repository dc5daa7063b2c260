package confine_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// A host is a repository with a linked work tree, as a branch has one.
type host struct {
	main, work, guest string
	tree              *worktree.Tree // of work
}

func newHost(t *testing.T, main string) *host {
	t.Helper()
	h := &host{main: main, work: filepath.Join(main, ".ferrus", "worktrees", "one"), guest: filepath.Join(main, ".ferrus", "executor", "git")}
	private := filepath.Join(main, ".ferrus", "git")
	must(t, os.MkdirAll(private, 0o700))
	tree, err := worktree.Open(t.Context(), main, private, worktree.Options{})
	must(t, err)
	must(t, tree.Add(t.Context(), h.work, "one"))
	h.tree, err = worktree.Open(t.Context(), h.work, private, worktree.Options{Root: main})
	must(t, err)
	return h
}

func (h *host) enter(t *testing.T) (confine.Link, []string) {
	t.Helper()
	d, err := confine.MakeGitDir(t.Context(), h.tree.Repository, h.guest)
	must(t, err)
	must(t, d.Link.Enter())
	return d.Link, d.Objects
}

func dotGit(t *testing.T, work string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(work, ".git"))
	must(t, err)
	return string(text)
}

// TestAnAgentUsesGitThere: status is clean and warm, it commits, and nothing of the project's repository changes, in the usual form
// of a repository and in others.
func TestAnAgentUsesGitThere(t *testing.T) {
	repositories := map[string]func(t *testing.T) string{
		"usual": func(t *testing.T) string { return worktreetest.Committed(t) },
		"sha256": func(t *testing.T) string {
			dir := t.TempDir()
			worktreetest.RunGit(t, dir, "init", "-q", "--object-format=sha256")
			worktreetest.Write(t, dir, "code.txt", "one\n")
			worktreetest.RunGit(t, dir, "add", "-A")
			worktreetest.RunGit(t, dir, "commit", "-qm", "first")
			return dir
		},
		"shallow": func(t *testing.T) string {
			from, dir := worktreetest.Committed(t), t.TempDir()
			worktreetest.Write(t, from, "code.txt", "two\n")
			worktreetest.RunGit(t, from, "add", "-A")
			worktreetest.RunGit(t, from, "commit", "-qm", "second")
			worktreetest.RunGit(t, dir, "clone", "-q", "--depth=1", "file://"+from, ".")
			return dir
		},
		"with alternates of alternates": func(t *testing.T) string {
			one, two, dir := worktreetest.Committed(t), t.TempDir(), t.TempDir()
			worktreetest.RunGit(t, two, "clone", "-q", "--shared", one, ".")
			worktreetest.RunGit(t, dir, "clone", "-q", "--shared", two, ".")
			return dir
		},
		"with a split index": func(t *testing.T) string {
			dir := worktreetest.Committed(t)
			worktreetest.RunGit(t, dir, "config", "core.splitIndex", "true")
			worktreetest.RunGit(t, dir, "config", "splitIndex.maxPercentChange", "100")
			return dir
		},
	}
	for name, make := range repositories {
		t.Run(name, func(t *testing.T) {
			main, err := filepath.EvalSymlinks(make(t))
			must(t, err)
			h := newHost(t, main)
			before := worktreetest.Users(t, main)
			was := dotGit(t, h.work)
			l, objects := h.enter(t)
			if dotGit(t, h.work) != "gitdir: "+h.guest+"\n" {
				t.Fatalf("the work tree names %q", dotGit(t, h.work))
			}
			for _, dir := range objects {
				if _, err := os.Stat(dir); err != nil {
					t.Error(err)
				}
			}
			if name == "with alternates of alternates" && len(objects) != 3 {
				t.Errorf("of three stores it reads %q", objects)
			}
			if said := worktreetest.RunGit(t, h.work, "status", "--porcelain"); said != "" {
				t.Errorf("git status: %s", said)
			}
			if said := worktreetest.RunGit(t, h.work, "log", "--format=%s"); said == "" {
				t.Error("it has no history")
			}
			worktreetest.Write(t, h.work, "code.txt", "mine\n")
			worktreetest.RunGit(t, h.work, "add", "-A")
			worktreetest.RunGit(t, h.work, "commit", "-qm", "mine")
			worktreetest.RunGit(t, h.work, "fsck", "--no-dangling")
			if said := worktreetest.RunGit(t, h.work, "symbolic-ref", "--short", "HEAD"); strings.TrimSpace(said) != "ferrus/one" {
				t.Errorf("it is on %q", said)
			}
			if after := worktreetest.Users(t, main); !maps.Equal(before, after) {
				t.Error("the repository of the project has changed")
			}
			if replaced, err := l.Leave(); replaced || err != nil || dotGit(t, h.work) != was {
				t.Errorf("it leaves %q for %q, replaced %v, %v", dotGit(t, h.work), was, replaced, err)
			}
			if said := worktreetest.RunGit(t, h.work, "status", "--porcelain"); !strings.Contains(said, "code.txt") {
				t.Errorf("the work of the agent is not seen: %q", said)
			}
		})
	}
}

// TestNothingThatAnAgentLeavesIsTrusted: whatever lies in the place of .git, the work tree names the repository again.
func TestNothingThatAnAgentLeavesIsTrusted(t *testing.T) {
	main := worktreetest.Committed(t)
	h := newHost(t, main)
	was := dotGit(t, h.work)
	elsewhere := t.TempDir()
	worktreetest.Write(t, elsewhere, "kept", "kept\n")
	file := filepath.Join(h.work, ".git")
	for name, c := range map[string]struct {
		leave    func() error
		replaced bool
	}{
		"as it was":      {func() error { return nil }, false},
		"another folder": {func() error { return os.WriteFile(file, []byte("gitdir: "+elsewhere+"\n"), 0o644) }, true},
		"nothing":        {func() error { return os.Remove(file) }, true},
		"a repository":   {func() error { return errors.Join(os.Remove(file), exec.Command("git", "init", "-q", h.work).Run()) }, true},
		"a folder that cannot be removed": {func() error {
			return errors.Join(os.Remove(file), os.MkdirAll(filepath.Join(file, "a/b"), 0o755), os.Chmod(filepath.Join(file, "a"), 0), os.Chmod(file, 0o100))
		}, true},
		"a link":                     {func() error { return errors.Join(os.Remove(file), os.Symlink(elsewhere, file)) }, true},
		"a link to a file":           {func() error { return errors.Join(os.Remove(file), os.Symlink(elsewhere+"/kept", file)) }, true},
		"a work tree without rights": {func() error { return errors.Join(os.Remove(file), os.Chmod(h.work, 0)) }, true},
		"the old one":                {func() error { return os.WriteFile(file, []byte(was), 0o644) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := h.enter(t)
			must(t, c.leave())
			replaced, err := l.Leave()
			if err != nil || replaced != c.replaced || dotGit(t, h.work) != was {
				t.Errorf("it leaves %q, replaced %v, %v", dotGit(t, h.work), replaced, err)
			}
			if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%v, %v", info, err)
			}
			if again, err := l.Leave(); again || err != nil {
				t.Errorf("again: %v, %v", again, err)
			}
			if text, _ := os.ReadFile(elsewhere + "/kept"); string(text) != "kept\n" {
				t.Error("it has followed a link")
			}
		})
	}
	must(t, os.RemoveAll(h.work))
	if _, err := (confine.Link{Work: h.work}).Leave(); err != nil {
		t.Errorf("a work tree that is gone: %v", err)
	}
}

// TestARepositoryThatLacksObjectsIsRefused also where it is found late.
func TestARepositoryThatLacksObjectsIsRefused(t *testing.T) {
	main := worktreetest.Committed(t)
	h := newHost(t, main)
	worktreetest.RunGit(t, main, "config", "remote.origin.promisor", "true")
	if _, err := confine.MakeGitDir(t.Context(), h.tree.Repository, h.guest); !errors.Is(err, confine.ErrPartial) {
		t.Errorf("a partial clone: %v", err)
	}
}

// TestARepositoryIsNeverReplaced: where .git is the git directory itself, only a sandbox can show another one in its place.
func TestARepositoryIsNeverReplaced(t *testing.T) {
	main := worktreetest.Committed(t)
	h := newHost(t, main)
	own, err := worktree.Open(t.Context(), main, filepath.Join(main, ".ferrus", "git"), worktree.Options{})
	must(t, err)
	d, err := confine.MakeGitDir(t.Context(), own.Repository, h.guest)
	must(t, err)
	if d.Covers != filepath.Join(main, ".git", "objects") || len(d.Objects) > 0 {
		t.Errorf("it covers %q and reads %q", d.Covers, d.Objects)
	}
	if err := d.Link.Enter(); err == nil {
		t.Error("it was entered")
	}
	if _, err := d.Link.Leave(); err == nil {
		t.Error("it was left")
	}
	if said := worktreetest.RunGit(t, main, "log", "--format=%s"); said == "" {
		t.Error("the repository is gone")
	}
	// What a sandbox shows.
	must(t, os.Rename(filepath.Join(main, ".git"), filepath.Join(h.guest, "..", "covered")))
	must(t, os.Remove(filepath.Join(h.guest, confine.Borrowed)))
	must(t, os.Symlink(filepath.Join("..", "covered", "objects"), filepath.Join(h.guest, confine.Borrowed)))
	must(t, os.Symlink(h.guest, filepath.Join(main, ".git")))
	if said := worktreetest.RunGit(t, main, "status", "--porcelain", "--untracked-files=no") + worktreetest.RunGit(t, main, "fsck"); said != "" {
		t.Errorf("git in it: %s", said)
	}
}

// TestObjectsAreReadWhereverTheyAre: the alternates of a repository may be quoted, and relative; remarks are none.
func TestObjectsAreReadWhereverTheyAre(t *testing.T) {
	main, err := filepath.EvalSymlinks(worktreetest.Committed(t))
	must(t, err)
	h := newHost(t, main)
	objects := filepath.Join(main, ".git", "objects")
	odd := filepath.Join(t.TempDir(), `a "quoted\" folder`)
	for _, dir := range []string{odd, filepath.Join(main, "more"), filepath.Join(main, "#more")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(odd) + `"`
	worktreetest.Write(t, objects, "info/alternates", "# a remark\n\n"+quoted+"\n../../more\n../../more/../more\n")
	worktreetest.Write(t, main, "more/info/alternates", objects+"\n") // in a circle
	if _, got := h.enter(t); !slices.Equal(got, []string{objects, odd, filepath.Join(main, "more")}) {
		t.Errorf("%q", got)
	}
	must(t, os.RemoveAll(filepath.Join(main, "more", "info")))
	worktreetest.Write(t, main, "more/info", "no folder")
	if _, err := confine.MakeGitDir(t.Context(), h.tree.Repository, h.guest); err == nil {
		t.Error("alternates that cannot be read are left out")
	}
	if err := (confine.Link{Work: filepath.Join(main, "gone"), Guest: h.guest}).Enter(); err == nil {
		t.Error("a work tree that is gone was entered")
	}
	plain, err := worktree.Open(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "git"), worktree.Options{})
	must(t, err)
	if _, err := confine.MakeGitDir(t.Context(), plain.Repository, h.guest); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("without git: %v", err)
	}
}

// TestStatusIsWarm: the index knows the files, so that git reads none of them again.
func TestStatusIsWarm(t *testing.T) {
	main := worktreetest.Committed(t)
	h := newHost(t, main)
	worktreetest.RunGit(t, h.work, "update-index", "--refresh")
	h.enter(t)
	index := func() string {
		text, err := os.ReadFile(filepath.Join(h.guest, "index"))
		must(t, err)
		return string(text)
	}
	was := index()
	worktreetest.RunGit(t, h.work, "update-index", "--really-refresh")
	if was != index() {
		t.Error("git had to look at the files again")
	}
}

// TestAnotherWorkTreeLeavesItAlone: one that is made or removed meanwhile does not take the git directory away from the agent.
func TestAnotherWorkTreeLeavesItAlone(t *testing.T) {
	h := newHost(t, worktreetest.Committed(t))
	h.enter(t)
	was, beside := dotGit(t, h.work), filepath.Join(filepath.Dir(h.work), "two")
	own, err := worktree.Open(t.Context(), h.main, filepath.Join(h.main, ".ferrus", "git"), worktree.Options{})
	must(t, err)
	if err := own.Add(t.Context(), beside, "two"); err != nil || dotGit(t, h.work) != was {
		t.Errorf("another is made, %v: the work tree names %q", err, dotGit(t, h.work))
	}
	if said := worktreetest.RunGit(t, beside, "status", "--porcelain"); said != "" {
		t.Errorf("git status there: %s", said)
	}
	if err := own.Remove(t.Context(), beside, "two"); err != nil || dotGit(t, h.work) != was {
		t.Errorf("another is removed, %v: the work tree names %q", err, dotGit(t, h.work))
	}
}
