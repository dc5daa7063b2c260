package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// The project is a folder of the repository, its work trees lie in it, and each is of the whole repository.
func TestAWorkTreeForAFolderOfARepository(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]string{
		"one private folder": ".ferrus/git",
		"two":                ".ferrus/branches/x/git",
		"one inside it":      ".ferrus/worktrees/x/sub/.ferrus/git",
	} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			project := filepath.Join(dir, "sub")
			at := filepath.Join(project, ".ferrus/worktrees/x")
			write(t, dir, "sub/x.txt", "x\n")
			write(t, dir, "sub/gone", "x\n")
			write(t, dir, "sub/.gitignore", "*.log\n")
			write(t, dir, "sub/.ferrus/notes", "the user's\n")
			write(t, dir, "sub/gen/big", "not counted\n")
			runGit(t, dir, "add", "-f", ".")
			runGit(t, dir, "commit", "-qm", "two")
			on := func(dir, private string) *worktree.Tree {
				t.Helper()
				tree, err := worktree.Open(t.Context(), dir, filepath.Join(project, private), worktree.Options{Ignore: []string{"/sub/gen/"}})
				if err != nil {
					t.Fatal(err)
				}
				return tree
			}
			tree := on(project, ".ferrus/git")
			clean := fingerprint(t, tree)

			write(t, dir, "a.txt", "uncommitted\n")
			write(t, dir, "sub/x.txt", "uncommitted\n")
			write(t, dir, "sub/staged", "staged\n")
			runGit(t, dir, "add", "sub/staged", "sub/x.txt")
			write(t, dir, "sub/x.txt", "twice\n")
			write(t, dir, "sub/new/deep", "untracked\n")
			write(t, dir, "new", "untracked\n")
			write(t, dir, "sub/x.log", "ignored\n")
			write(t, dir, "sub/.ferrus/notes", "changed\n")
			write(t, dir, "sub/gen/big", "changed\n")
			remove(t, dir, "sub/gone")
			remove(t, dir, "src")
			kept := save(t, tree, "t/1")
			if err := tree.Add(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			if got := fingerprint(t, tree); got != kept || fresh(t, project, "/sub/gen/") != kept {
				t.Errorf("the work tree counts: %q", paths(t, tree, kept, got))
			}

			there := on(filepath.Join(at, "sub"), private)
			if there.Top() != at {
				t.Errorf("Top %s, want %s", there.Top(), at)
			}
			was := save(t, there, "t/2")
			if was != clean {
				t.Errorf("the same files: %q", paths(t, there, clean, was))
			}
			if err := restore.In(there).Blocked(t.Context(), was, kept); err != nil {
				t.Error(err)
			}
			restored(t, there, was, kept)
			if got := fingerprint(t, there); got != kept || fresh(t, filepath.Join(at, "sub"), "/sub/gen/") != kept {
				t.Errorf("restored: %q", paths(t, there, kept, got))
			}
			if got := fingerprint(t, tree); got != kept {
				t.Errorf("the main work tree: %q", paths(t, tree, kept, got))
			}
			for _, path := range paths(t, tree, "", kept) {
				if strings.Contains(path, ".ferrus") {
					t.Errorf("%s is saved", path)
				}
			}
			for path, want := range map[string]string{
				"sub/x.txt": "twice\n", "sub/staged": "staged\n", "sub/new/deep": "untracked\n", "new": "untracked\n", "sub/gone": "", "src/b.go": "",
				"sub/x.log": "", "sub/.ferrus/notes": "the user's\n", "sub/gen/big": "not counted\n",
			} {
				if got, _ := os.ReadFile(filepath.Join(at, path)); string(got) != want {
					t.Errorf("%s: %q, want %q", path, got, want)
				}
			}
			if err := tree.Remove(t.Context(), at, "x"); err != nil {
				t.Error(err)
			}
			if got := fingerprint(t, tree); got != kept {
				t.Errorf("removed: %q", paths(t, tree, kept, got))
			}
		})
	}
}
