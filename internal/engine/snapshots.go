package engine

import (
	"cmp"
	"context"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// snapshotAfter keeps the files of the work as they are after an event: id is their tree, "" where nobody has looked yet. What
// cannot be kept cannot be returned to later; the event stands all the same.
func (e *Engine) snapshotAfter(event state.Event, after store.Snapshot, id string) {
	of := snapshots.Events[event]
	if of == nil || after.Task.TaskID == "" {
		return
	}
	id = cmp.Or(id, of(after.Task))
	e.saves.Do(func(ctx context.Context) {
		if err := e.saveSnapshot(ctx, after, id); err != nil && e.ctx.Err() == nil {
			e.log.Warn("the files of an entry are not kept", "entry", after.Task.Seq, "error", err)
		}
	})
}

// saveSnapshot keeps a tree, that of the work as it is for "", under the newest entry of the task.
func (e *Engine) saveSnapshot(ctx context.Context, snap store.Snapshot, id string) error {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return err
	}
	return snapshots.Save(ctx, tree, e.place.Branch, snap.Task, id)
}

// Files returns the tree that the work held at an entry of the present task: what was kept last up to it. It is "" where
// nothing was.
func (e *Engine) Files(ctx context.Context, snap store.Snapshot, seq uint64) (string, error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil || !tree.Git() {
		return "", err
	}
	e.saves.Wait()
	return snapshots.Find(ctx, tree, e.place.Branch, snap.Task.TaskID, seq)
}

// Keep keeps the work as it is before files are moved, under a name of its own each time, and returns the tree.
func (e *Engine) Keep(ctx context.Context, snap store.Snapshot) (string, error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return "", err
	}
	return snapshots.Keep(ctx, tree, e.place.Branch, snap.Task)
}

// Settle waits until the files of all entries so far are saved. Another process's are not waited for.
func (e *Engine) Settle() { e.saves.Wait() }

// EditsName is the name under which edits are saved that a move of the files of the work takes out of the work tree.
func (e *Engine) EditsName(snap store.Snapshot) string {
	return snapshots.EditsName(e.place.Branch, snap.Task)
}
