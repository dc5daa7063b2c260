package differences

import (
	"bytes"
	"context"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// Patch returns the path of the patch of a task's submission. It makes the file if there is none: the work was submitted on another computer. open opens
// the work tree, which has both trees.
func Patch(ctx context.Context, open func() (*worktree.Tree, error), place project.Place, t state.Task) (string, error) {
	path := place.Path(t.Submission.Patch)
	if rootfs.Exists(path) {
		return path, nil
	}
	tree, err := open()
	if err == nil {
		err = WritePatch(ctx, tree, place, t.BaseTree, t.Submission.Tree, t.Submission.Patch)
	}
	return path, err
}

// WritePatch writes the patch from one tree to another into a file of a place. The error is a *refusal.RefusedError.
func WritePatch(ctx context.Context, tree *worktree.Tree, place project.Place, from, to, name string) error {
	var patch bytes.Buffer
	if err := tree.Patch(ctx, from, to, &patch); err != nil {
		return refusal.Git(err)
	}
	if err := place.WriteFile(name, patch.Bytes()); err != nil {
		return &refusal.RefusedError{Code: refusal.StoreError, Message: "write the patch: " + err.Error(), Remedy: "check whether the disk is full, then try again"}
	}
	return nil
}
