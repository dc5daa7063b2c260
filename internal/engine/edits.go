package engine

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/snapshots"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// editsOf is the name under which edits are kept that a move of the files of the work takes out of the work tree.
func (e *Engine) editsOf(snap store.Snapshot) string {
	return snapshots.EditsName(e.place.Branch, snap.Task)
}

// Leftovers lists what moves of the work's files that were cut off, or met open files, have left. It changes nothing.
func (e *Engine) Leftovers(ctx context.Context) ([]restore.Leftover, error) {
	tree, err := e.treeNow(ctx)
	if err != nil {
		return nil, err
	}
	list, err := restore.In(tree).Leftovers()
	if err != nil {
		return list, refusal.Git(err)
	}
	return list, nil
}

// Recover keeps the edits that are in [Engine.Leftovers], and returns them.
func (e *Engine) Recover(ctx context.Context) ([]restore.Edit, error) {
	tree, err := e.treeNow(ctx)
	if err != nil {
		return nil, err
	}
	edits, err := restore.In(tree).Recover(ctx)
	if err != nil {
		return edits, refusal.Git(err)
	}
	return edits, nil
}

// treeNow is the work tree of the present task.
func (e *Engine) treeNow(ctx context.Context) (*worktree.Tree, error) {
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	return e.Tree(ctx, now)
}

// withEdits is an error that also names the edits that were kept before it happened.
func withEdits(err error, edits []restore.Edit) error {
	if err == nil || len(edits) == 0 {
		return err
	}
	return refusal.Adding(err, ". "+restore.Text(edits))
}
