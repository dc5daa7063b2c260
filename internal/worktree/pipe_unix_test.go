//go:build unix

package worktree_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// TestGitWaitsAtNoPipe: git opens files of rules wherever it meets them, and a FIFO would hold it until somebody writes.
func TestGitWaitsAtNoPipe(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*worktree.Tree, context.Context) (string, error){
		".gitignore":     (*worktree.Tree).Fingerprint,
		".gitattributes": func(tree *worktree.Tree, ctx context.Context) (string, error) { return tree.Save(ctx, "t/1") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := committed(t)
			runGit(t, dir, "config", "filter.x.clean", "cat")
			tree := open(t, dir)
			fingerprint(t, tree)
			write(t, dir, "deep/er/file", "new\n")
			pipe(t, dir, filepath.Join("deep/er", name))
			_, err := of(tree, t.Context())
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "deep/er", name)) || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("err = %v", err)
			}
			remove(t, dir, filepath.Join("deep/er", name))
			fingerprint(t, tree)
		})
	}
}
