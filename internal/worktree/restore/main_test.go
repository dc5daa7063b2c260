package restore_test

import (
	"context"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

// editing is the environment variable that makes a victim's files be edited: those of the first editor right before they
// come out of the work tree, those of others when it dies.
const editing = "FERRUS_TEST_EDIT"

func TestMain(m *testing.M) {
	os.Exit(worktreetest.Main(m, map[string]func(context.Context, *worktreetest.Killed, []string) error{
		"save": func(ctx context.Context, k *worktreetest.Killed, args []string) error {
			_, err := k.Tree.Save(ctx, args[0])
			return err
		},
		"restore": func(ctx context.Context, k *worktreetest.Killed, args []string) error {
			tree := restore.In(k.Tree)
			if os.Getenv(editing) != "" {
				k.AtDeath = edited(k.Dir, tree)
			}
			_, err := tree.Restore(ctx, args[0], args[1], "t/edits")
			return err
		},
	}))
}
