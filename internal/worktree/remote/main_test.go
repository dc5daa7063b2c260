package remote_test

import (
	"context"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

func TestMain(m *testing.M) {
	os.Exit(worktreetest.Main(m, map[string]func(context.Context, *worktreetest.Killed, []string) error{
		"push": func(ctx context.Context, k *worktreetest.Killed, args []string) error {
			tree, err := k.Tree.Snapshot(ctx)
			if err != nil {
				return err
			}
			r, err := remote.Open(ctx, k.Tree.Repository, remote.Options{Remote: args[0], Project: "p"})
			if err != nil {
				return err
			}
			_, err = r.Push(ctx, remote.Ref{Task: "t", Epoch: 1, Commit: args[1]}, tree, args[2])
			return err
		},
	}))
}

// Helpers of the tests, by short names.
var (
	runGit      = worktreetest.RunGit
	write       = worktreetest.Write
	remove      = worktreetest.Remove
	committed   = worktreetest.Committed
	open        = worktreetest.Open
	fingerprint = worktreetest.Fingerprint
	wrap        = worktreetest.Wrap
	configure   = worktreetest.Configure
	users       = worktreetest.Users
)
