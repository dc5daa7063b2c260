package repository_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

func TestTheCommitsOfABranchAreKept(t *testing.T) {
	t.Parallel()
	commit := func(t *testing.T, at string) { runGit(t, at, "commit", "-q", "--allow-empty", "-m", "work") }
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir, at string)
		kept   bool
	}{
		"no commit":     {func(t *testing.T, dir, at string) {}, false},
		"a commit":      {func(t *testing.T, dir, at string) { commit(t, at) }, true},
		"main is ahead": {func(t *testing.T, dir, at string) { commit(t, dir) }, false},
		"both are ahead": {func(t *testing.T, dir, at string) {
			write(t, at, "n", "n")
			runGit(t, at, "add", "n")
			commit(t, at)
			commit(t, dir)
		}, true},
		"merged":               {func(t *testing.T, dir, at string) { commit(t, at); runGit(t, dir, "merge", "-q", "ferrus/x") }, false},
		"merged, not by HEAD":  {func(t *testing.T, dir, at string) { commit(t, at); runGit(t, dir, "branch", "other", "ferrus/x") }, true},
		"main has no commit":   {func(t *testing.T, dir, at string) { runGit(t, dir, "checkout", "-q", "--orphan", "new") }, true},
		"main is on no branch": {func(t *testing.T, dir, at string) { runGit(t, dir, "checkout", "-q", "--detach"); commit(t, at) }, true},
		"no branch": {func(t *testing.T, dir, at string) {
			commit(t, at)
			runGit(t, dir, "update-ref", "-d", "refs/heads/ferrus/x")
		}, false},
		"only such a tag": {func(t *testing.T, dir, at string) {
			commit(t, at)
			runGit(t, dir, "tag", "ferrus/x", "ferrus/x")
			runGit(t, dir, "update-ref", "-d", "refs/heads/ferrus/x")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			tree, at := open(t, dir), filepath.Join(dir, ".ferrus/worktrees/x")
			if err := tree.Add(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			tt.change(t, dir, at)
			save(t, tree, "t/1")
			there, err := worktree.Open(t.Context(), at, filepath.Join(dir, ".ferrus/branches/x/git"), worktree.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, before := "", users(t, dir)
			if tt.kept {
				want = strings.TrimSpace(runGit(t, dir, "rev-parse", "refs/heads/ferrus/x"))
			}
			for from, tree := range map[string]*worktree.Tree{"the main work tree": tree, "the linked one": there} {
				if got, err := tree.KeepHead(t.Context(), "x", "lost/x"); got != want || err != nil {
					t.Errorf("from %s: %q, %v; want %q", from, got, err, want)
				}
			}
			for path, was := range users(t, dir) {
				if before[path] != was {
					t.Errorf("changed: %s", path)
				}
			}
			if err := tree.Remove(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			// Once more, when there is no branch, it takes nothing back.
			if got, err := tree.KeepHead(t.Context(), "x", "lost/x"); got != "" || err != nil {
				t.Errorf("of no branch: %q, %v", got, err)
			}
			held, err := tree.ReadRef(t.Context(), "lost/x")
			if (held != "") != tt.kept || err != nil {
				t.Errorf("Kept: %q, %v", held, err)
			}
			if !tt.kept {
				return
			}
			collect(t, dir)
			whole(t, dir, "lost/x", strings.TrimSpace(runGit(t, dir, "rev-parse", want+"^{tree}")))
			if got := strings.TrimSpace(runGit(t, dir, "rev-parse", "refs/ferrus/lost/x")); got != want {
				t.Errorf("kept %s, want %s", got, want)
			}
		})
	}
}

func TestKeptHeadsReplaceEachOther(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	tree := open(t, dir)
	runGit(t, dir, "checkout", "-q", "-b", "ferrus/x")
	for range 2 {
		runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "work")
		want := head(t, dir)
		runGit(t, dir, "checkout", "-q", "main")
		if got, err := tree.KeepHead(t.Context(), "x", "lost/x"); got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		if got := strings.TrimSpace(runGit(t, dir, "rev-parse", "refs/ferrus/lost/x")); got != want {
			t.Errorf("kept %s, want %s", got, want)
		}
		runGit(t, dir, "checkout", "-q", "ferrus/x")
	}
	for _, bad := range [][2]string{{"a..b", "lost/x"}, {"x", "a..b"}, {"", "lost/x"}, {"x", "lost/x/y"}} {
		runGit(t, dir, "checkout", "-q", "main")
		if got, err := tree.KeepHead(t.Context(), bad[0], bad[1]); got != "" || err == nil {
			t.Errorf("KeepHead(%q) = %q, %v", bad, got, err)
		}
	}
}
