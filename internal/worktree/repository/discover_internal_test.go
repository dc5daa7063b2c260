package repository

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// TestAFoundRepositoryIsAskedForOnce: git is asked again when .git is another one, or when its configuration has changed.
func TestAFoundRepositoryIsAskedForOnce(t *testing.T) {
	root := git.Resolve(t.TempDir())
	run := func(args ...string) {
		t.Helper()
		if _, _, err := (git.Command{Dir: root}).Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q", "--template=")
	asks := 0
	k := discoveries{ask: func(ctx context.Context, root string) ([]string, error) { asks++; return askGit(ctx, root) }}
	find := func() []string {
		t.Helper()
		paths, err := k.paths(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	asked := func() bool {
		t.Helper()
		before := asks
		find()
		return asks > before
	}

	if !asked() || asked() {
		t.Error("git is asked once, and then no more")
	}
	for _, c := range []struct {
		what string
		make func()
	}{
		{"a setting", func() { run("config", "core.worktree", root) }},
		{"a setting of the work tree", func() { write(t, filepath.Join(root, ".git", "config.worktree"), "[core]\n") }},
		{"the repository elsewhere", func() {
			if err := os.Rename(filepath.Join(root, ".git"), filepath.Join(root, "other")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, ".git"), "gitdir: other\n")
		}},
	} {
		if c.make(); !asked() {
			t.Errorf("%s: what git has said before is taken", c.what)
		}
		if asked() {
			t.Errorf("%s: git is asked each time", c.what)
		}
	}
	if got := find(); !slices.Contains(got, filepath.Join(root, "other")) {
		t.Errorf("%q", got)
	}
	if err := os.Remove(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	if paths, err := k.paths(t.Context(), root); err == nil {
		t.Errorf("a repository that has gone is found: %q", paths)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
