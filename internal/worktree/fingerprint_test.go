package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// What counts is a function of the files, the ignore rules and what the user tracks; the private index has no say.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		change  func(t *testing.T, dir string)
		counts  bool
		globs   []string
		nowhere string // a path that must not be in the tree
	}{
		{name: "nothing", change: func(t *testing.T, dir string) {}},
		{name: "an edit", counts: true, change: func(t *testing.T, dir string) { write(t, dir, "a.txt", "b\n") }},
		{name: "a touch", change: func(t *testing.T, dir string) {
			then := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "a.txt"), then, then); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "an untracked file", counts: true, change: func(t *testing.T, dir string) { write(t, dir, "new/x", "x") }},
		{name: "an ignored file", change: func(t *testing.T, dir string) { write(t, dir, "src/x.o", "x") }},
		{name: "an ignored folder", change: func(t *testing.T, dir string) { write(t, dir, "build/x", "x") }},
		{name: "an ignored file that the user tracks", counts: true, change: func(t *testing.T, dir string) {
			write(t, dir, "x.o", "x")
			runGit(t, dir, "add", "-f", "x.o")
		}},
		{name: "staging", change: func(t *testing.T, dir string) {
			runGit(t, dir, "rm", "-q", "--cached", "a.txt")
		}},
		{name: "a deletion", counts: true, nowhere: "a.txt", change: func(t *testing.T, dir string) { remove(t, dir, "a.txt") }},
		{name: "a commit", change: func(t *testing.T, dir string) {
			runGit(t, dir, "commit", "-qm", "empty", "--allow-empty")
		}},
		{name: "a file that becomes a folder", counts: true, change: func(t *testing.T, dir string) {
			remove(t, dir, "a.txt")
			write(t, dir, "a.txt/x", "x")
		}},
		{name: "a folder that becomes a file", counts: true, change: func(t *testing.T, dir string) {
			remove(t, dir, "src")
			write(t, dir, "src", "x")
		}},
		{name: "a folder that becomes a link", counts: true, nowhere: "src/b.go", change: func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "src"), filepath.Join(dir, "other")); err != nil {
				t.Fatal(err)
			}
			link(t, "other", filepath.Join(dir, "src"))
		}},
		{name: "an ignored folder of tracked files that becomes a link", counts: true, nowhere: "build/x", change: func(t *testing.T, dir string) {
			write(t, dir, "build/x", "x")
			runGit(t, dir, "add", "-f", "build/x")
			fingerprint(t, open(t, dir))
			remove(t, dir, "build")
			write(t, dir, "other/x", "x")
			link(t, "other", filepath.Join(dir, "build"))
		}},
		{name: "a broken link", counts: true, change: func(t *testing.T, dir string) { link(t, "nowhere", filepath.Join(dir, "l")) }},
		{name: "an executable bit", counts: true, change: func(t *testing.T, dir string) {
			if runtime.GOOS == "windows" {
				t.Skip("windows has no executable bit")
			}
			if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a glob", globs: []string{"*.log", "/out"}, nowhere: "out/x", change: func(t *testing.T, dir string) {
			write(t, dir, "deep/down/x.log", "x")
			write(t, dir, "out/x", "x")
		}},
		{name: "a glob and a tracked file", globs: []string{"src/"}, nowhere: "src/b.go", change: func(t *testing.T, dir string) {
			write(t, dir, "src/b.go", "x")
		}},
		{name: "ferrus's own", globs: []string{"!.ferrus"}, nowhere: ".ferrus/STATE.json", change: func(t *testing.T, dir string) {
			write(t, dir, ".ferrus/STATE.json", "{}")
			runGit(t, dir, "add", "-f", ".ferrus/STATE.json")
		}},
		{name: "a folder named as ferrus's own elsewhere", counts: true, change: func(t *testing.T, dir string) {
			write(t, dir, "deep/.ferrus/x", "x")
		}},
		{name: "a file named as a leftover", counts: true, change: func(t *testing.T, dir string) { write(t, dir, "x.ferrus.tmp", "x") }},
		{name: "what comes to be ignored later", nowhere: "gen/x", counts: true, change: func(t *testing.T, dir string) {
			write(t, dir, "gen/x", "x")
			fingerprint(t, open(t, dir))
			write(t, dir, ".gitignore", "/gen\n")
		}},
		{name: "a file that the user has git assume unchanged", counts: true, change: func(t *testing.T, dir string) {
			runGit(t, dir, "update-index", "--assume-unchanged", "a.txt")
			runGit(t, dir, "update-index", "--skip-worktree", "src/b.go")
			write(t, dir, "a.txt", "hidden")
			write(t, dir, "src/b.go", "hidden")
		}},
		{name: "an intent to add", counts: true, change: func(t *testing.T, dir string) {
			write(t, dir, "n", "n")
			runGit(t, dir, "add", "-N", "n")
		}},
		{name: "an embedded repository with a commit", counts: true, change: func(t *testing.T, dir string) { embed(t, dir, "sub", true) }},
		{name: "an embedded repository without a commit", change: func(t *testing.T, dir string) { embed(t, dir, "sub", false) }},
		{name: "an embedded repository that is one no more", counts: true, change: func(t *testing.T, dir string) {
			embed(t, dir, "sub", true)
			fingerprint(t, open(t, dir))
			remove(t, dir, "sub/.git")
		}},
		{name: "an embedded repository that loses its commit", nowhere: "sub", change: func(t *testing.T, dir string) {
			embed(t, dir, "sub", true)
			fingerprint(t, open(t, dir))
			remove(t, dir, "sub/.git")
			embed(t, dir, "sub", false)
		}},
		{name: "a submodule whose repository is gone", counts: true, change: func(t *testing.T, dir string) {
			embed(t, dir, "sub", true)
			runGit(t, dir, "add", "sub")
			fingerprint(t, open(t, dir))
			remove(t, dir, "sub/.git")
			runGit(t, dir, "rm", "-q", "-f", "--cached", "sub")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := committed(t)
			tree := open(t, dir, tt.globs...)
			before := fingerprint(t, tree)
			tt.change(t, dir)
			after := fingerprint(t, tree)
			if (before != after) != tt.counts {
				t.Errorf("counts = %v, want %v", before != after, tt.counts)
			}
			if again := fingerprint(t, tree); again != after {
				t.Errorf("the same tree: %s, then %s", after, again)
			}
			if want := fresh(t, dir, tt.globs...); after != want {
				paths, _ := tree.Changed(t.Context(), want, after)
				t.Errorf("with a past %s, without %s: %q", after, want, paths)
			}
			all, err := tree.Changed(t.Context(), "", after)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range all {
				if path == tt.nowhere || strings.HasPrefix(path, ".ferrus/") {
					t.Errorf("%s is in the tree", path)
				}
			}
		})
	}
}

func TestTheFingerprintIsTheTreeGitWouldCommit(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "new", "new\n")
	got := fingerprint(t, open(t, dir))
	runGit(t, dir, "add", "-A", ":!.ferrus")
	if want := strings.TrimSpace(runGit(t, dir, "write-tree")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheUsersRepositoryIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "a.txt", "stashed\n")
	runGit(t, dir, "stash")
	write(t, dir, "a.txt", "staged\n")
	runGit(t, dir, "add", "a.txt")
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "new", "new\n")
	write(t, dir, ".git/hooks/post-index-change", "#!/bin/sh\ntouch hooked\n")
	if err := os.Chmod(filepath.Join(dir, ".git/hooks/post-index-change"), 0o755); err != nil {
		t.Fatal(err)
	}
	status := runGit(t, dir, "--no-optional-locks", "status", "--porcelain", "--", ":!.ferrus", ":!hooked")
	before := inventory(t, filepath.Join(dir, ".git"))
	tree := open(t, dir)
	from := fingerprint(t, tree)
	write(t, dir, "a.txt", "changed more\n")
	to, err := tree.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Diffstat(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, inventory(t, filepath.Join(dir, ".git"))); diff != "" {
		t.Errorf("the .git folder changed:\n%s", diff)
	}
	if now := runGit(t, dir, "--no-optional-locks", "status", "--porcelain", "--", ":!.ferrus", ":!hooked"); now != status {
		t.Errorf("git status was\n%snow\n%s", status, now)
	}
	if _, err := os.Stat(filepath.Join(dir, "hooked")); err == nil {
		t.Error("a hook of the user's ran")
	}
}

func TestAnEditInTheSameTickIsNoticed(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	want := map[string]string{}
	for i := range most(40, 300) {
		text := []string{"aaaa", "bbbb"}[i%2]
		write(t, dir, "f", text)
		id := fingerprint(t, tree)
		if want[text] == "" {
			want[text] = id
		}
		if id != want[text] || want["aaaa"] == want["bbbb"] {
			t.Fatalf("edit %d to %s: got %s, want %s", i, text, id, want[text])
		}
	}
}

// A filter makes the moment: it changes f after git has hashed it and before the index is written, leaving size and
// time as git recorded them.
func TestAnEditWhileGitRunsIsNoticedLater(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := committed(t)
	runGit(t, dir, "config", "core.trustctime", "false")
	runGit(t, dir, "config", "filter.slow.clean", `sh -c 'cat
		if [ %f = a ] && [ ! -e ../once ]; then printf aaaa >f; fi
		if [ %f = f ] && [ ! -e ../once ]; then touch ../once; sleep 1.1; touch -r f ../then; printf bbbb >f; touch -r ../then f; fi'`)
	write(t, dir, ".gitattributes", "a filter=slow\nf filter=slow\n")
	write(t, dir, "a", "x")
	write(t, dir, "f", "old")
	once := filepath.Join(filepath.Dir(dir), "once")
	t.Cleanup(func() { os.Remove(once); os.Remove(filepath.Join(filepath.Dir(dir), "then")) })
	tree := open(t, dir)
	first := fingerprint(t, tree)
	if _, err := os.Stat(once); err != nil {
		t.Fatal("the filter did not run")
	}
	runGit(t, dir, "config", "filter.slow.clean", "cat")
	if data, _ := os.ReadFile(filepath.Join(dir, "f")); string(data) != "bbbb" {
		t.Fatalf("f holds %q", data)
	}
	if second := fingerprint(t, tree); second == first || second != fresh(t, dir) {
		t.Errorf("first %s, second %s, fresh %s", first, second, fresh(t, dir))
	}
}

func TestManyFingerprintsAtOnceAgree(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	for i := range 50 {
		write(t, dir, "n/"+string(rune('a'+i%26))+strings.Repeat("x", i), "n")
	}
	want := fresh(t, dir)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			tree, err := worktree.Open(context.Background(), dir, filepath.Join(dir, ".ferrus", "git"), worktree.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				if id, err := tree.Fingerprint(context.Background()); err != nil || id != want {
					t.Errorf("got %s %v, want %s", id, err, want)
				}
			}
		})
	}
	wg.Wait()
	left, _ := filepath.Glob(filepath.Join(dir, ".ferrus/git/draft-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestLeftoversOfTheKilledAreSwept(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	old := time.Now().Add(-2 * time.Hour)
	write(t, dir, ".ferrus/git/draft-new", "")
	write(t, dir, ".ferrus/git/draft-old", "")
	write(t, dir, ".ferrus/git/draft-old.lock", "")
	for _, name := range []string{"draft-old", "draft-old.lock"} {
		if err := os.Chtimes(filepath.Join(dir, ".ferrus/git", name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	fingerprint(t, open(t, dir))
	left, _ := filepath.Glob(filepath.Join(dir, ".ferrus/git/draft-*"))
	if len(left) != 1 || filepath.Base(left[0]) != "draft-new" {
		t.Errorf("left: %q", left)
	}
}

func TestAnUnreadableFileIsNamed(t *testing.T) {
	t.Parallel()
	if os.Getuid() <= 0 {
		t.Skip("root and windows read everything")
	}
	for _, name := range []string{"a.txt", "untracked", "src", "new"} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			write(t, dir, "untracked", "x")
			write(t, dir, "new/x", "x")
			path := filepath.Join(dir, name)
			write(t, dir, "a.txt", "changed")
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(path, 0o755)
			_, err := open(t, dir).Fingerprint(t.Context())
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "make it readable") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestTheContextEndsAFingerprint(t *testing.T) {
	t.Parallel()
	tree := open(t, committed(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Fingerprint(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := tree.Fingerprint(late); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "context") {
		t.Errorf("err = %v", err)
	}
}
