package restore_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// Helpers of the tests, by short names.
var (
	runGit      = worktreetest.RunGit
	write       = worktreetest.Write
	remove      = worktreetest.Remove
	copied      = worktreetest.Copied
	committed   = worktreetest.Committed
	open        = worktreetest.Open
	fingerprint = worktreetest.Fingerprint
	fresh       = worktreetest.Fresh
	collect     = worktreetest.Collect
	whole       = worktreetest.Whole
	save        = worktreetest.Save
	disturb     = worktreetest.Disturb
	manifest    = worktreetest.Manifest
	paths       = worktreetest.Paths
	users       = worktreetest.Users
	link        = worktreetest.Link
	embed       = worktreetest.Embed
	chmod       = worktreetest.Chmod
	rename      = worktreetest.Rename
	mkdir       = worktreetest.Mkdir
	pipe        = worktreetest.Pipe
	most        = worktreetest.Most
	deaths      = worktreetest.Deaths
	die         = worktreetest.Die
)

type death = worktreetest.Death

// openWork opens the work tree in dir.
func openWork(t testing.TB, dir string, ignore ...string) *restore.WorkTree {
	t.Helper()
	return restore.In(open(t, dir, ignore...))
}
