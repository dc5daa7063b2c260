package engine

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine/publish"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Published returns the work trees of the machine that are on the git remote.
func (e *Engine) Published() *publish.Trees { return e.published }

// Publish publishes the files of the task as they are now, so that another computer can continue with them, and returns the commit. It is ""
// where work trees do not travel. It is refused where an agent of another computer has claimed the task.
func (e *Engine) Publish(ctx context.Context) (commit string, err error) {
	now, err := e.View()
	if err == nil && now.Task.TaskID == "" {
		err = &refusal.RefusedError{Code: refusal.WrongState, Message: "there is no task, and so there are no files to publish", Remedy: "create_task first"}
	}
	if err != nil {
		return "", err
	}
	tree, err := e.Tree(ctx, now)
	if err != nil {
		return "", err
	}
	id, err := tree.Snapshot(ctx)
	if err != nil {
		return "", refusal.Git(err)
	}
	return e.published.HandOver(ctx, tree, now.Task, id)
}

// publishCheck publishes the tree that a check judges, while it runs. What it returns waits for that, and says why it failed, "" if it did not.
func (e *Engine) publishCheck(ctx context.Context, began store.Snapshot) (wait func() string) {
	tree, err := e.Tree(ctx, began)
	if err != nil || !e.published.Shared() {
		return func() string { return "" }
	}
	why := make(chan string, 1)
	go func() { why <- e.published.Try(ctx, tree, began.Task, began.Task.Check.Tree) }()
	return func() string { return <-why }
}

// ended deletes, in the background, what a task has left on the git remote that has ended for good: one that was approved and need not be merged,
// was merged, or was given up.
func (e *Engine) ended(snap store.Snapshot) {
	if !e.published.Shared() {
		return
	}
	e.saves.Do(func(ctx context.Context) {
		if tree, err := e.Tree(ctx, snap); err == nil {
			e.published.End(ctx, tree, snap.Task)
		}
	})
}
