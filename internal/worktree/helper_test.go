package worktree_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// Helpers of the tests, by short names.
var (
	isolate     = worktreetest.Isolate
	runGit      = worktreetest.RunGit
	write       = worktreetest.Write
	remove      = worktreetest.Remove
	repository  = worktreetest.Repository
	committed   = worktreetest.Committed
	configure   = worktreetest.Configure
	open        = worktreetest.Open
	fingerprint = worktreetest.Fingerprint
	fresh       = worktreetest.Fresh
	inventory   = worktreetest.Inventory
	collect     = worktreetest.Collect
	whole       = worktreetest.Whole
	save        = worktreetest.Save
	disturb     = worktreetest.Disturb
	elsewhere   = worktreetest.Elsewhere
	wrap        = worktreetest.Wrap
	manifest    = worktreetest.Manifest
	paths       = worktreetest.Paths
	users       = worktreetest.Users
	link        = worktreetest.Link
	embed       = worktreetest.Embed
	chmod       = worktreetest.Chmod
	rename      = worktreetest.Rename
	pipe        = worktreetest.Pipe
	most        = worktreetest.Most
)

// restored has a Restore make the files those of another tree.
func restored(t testing.TB, tree *worktree.Tree, from, to string) restore.Change {
	t.Helper()
	c, err := restore.In(tree).Restore(t.Context(), from, to, "t/edits")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Edited) > 0 {
		t.Errorf("nobody has edited %v", c.Edited)
	}
	return c
}
