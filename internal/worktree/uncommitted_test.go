package worktree_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// TestWhetherWorkIsCommitted: of the paths of the work alone, as they are now; and without a commit nothing is.
func TestWhetherWorkIsCommitted(t *testing.T) {
	t.Parallel()
	dir := committed(t)
	write(t, dir, "mine", "not of the work\n")
	tree := open(t, dir)
	from := fingerprint(t, tree)
	write(t, dir, "a.txt", "worked on\n")
	write(t, dir, "new", "made\n")
	to := fingerprint(t, tree)
	asked := func(tree *worktree.Tree, want bool) {
		t.Helper()
		if got, err := tree.Uncommitted(t.Context(), from, to); err != nil || got != want {
			t.Errorf("%v, %v", got, err)
		}
	}
	asked(tree, true)
	runGit(t, dir, "commit", "-qam", "a part")
	asked(tree, true)
	runGit(t, dir, "add", "new")
	asked(tree, true)
	runGit(t, dir, "commit", "-qm", "the rest")
	asked(tree, false)
	write(t, dir, "new", "and better\n")
	asked(tree, true)
	runGit(t, dir, "commit", "-qam", "better")
	asked(tree, false)
	runGit(t, dir, "update-ref", "-d", "HEAD")
	asked(tree, true)
	if got, err := tree.Uncommitted(t.Context(), to, to); got || err != nil {
		t.Errorf("work that changed nothing: %v, %v", got, err)
	}
}
