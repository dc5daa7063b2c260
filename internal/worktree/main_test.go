package worktree_test

import (
	"context"
	"os"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/worktreetest"
)

func TestMain(m *testing.M) {
	os.Exit(worktreetest.Main(m, map[string]func(context.Context, *worktreetest.Killed, []string) error{
		"save": func(ctx context.Context, k *worktreetest.Killed, args []string) error {
			_, err := k.Tree.Save(ctx, args[0])
			return err
		},
		"add": func(ctx context.Context, k *worktreetest.Killed, args []string) error {
			return k.Tree.Add(ctx, args[0], args[1])
		},
		"remove": func(ctx context.Context, k *worktreetest.Killed, args []string) error {
			return k.Tree.Remove(ctx, args[0], args[1])
		},
	}))
}
