package checkout

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// Beside lists the files in the checkout that are not of its tree, and that git does not ignore: in a work tree they would count as
// work. Files in a repository of their own are not among them. Paths are relative to the top, with slashes, sorted.
func (c *Checkout) Beside(ctx context.Context, t *worktree.Tree) ([]string, error) {
	dir, err := t.TempDir("beside-*")
	if err != nil {
		return nil, err
	}
	defer t.RemoveTemp(dir)
	call := t.Command()
	call.Dir = c.Files()
	call.Env = append(call.Env, "GIT_WORK_TREE="+c.Files(), "GIT_INDEX_FILE="+filepath.Join(dir, "index")) // which has no files
	out, _, err := call.Run(ctx, "ls-files", "-z", "-o", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(git.Split(out), func(name string) bool {
		_, of := c.want.At[name]
		return of
	})
	slices.Sort(names)
	return names, nil
}
