package publish

import (
	"context"
	"math"
	"sync"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
)

// first reports whether this is the first call for a ref: once in each process and epoch the refs are swept.
func (t *Trees) first(at remote.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.swept[key(at)]
	t.swept[key(at)] = true
	return first
}

// keep says which refs stay: those of other machines, and of this one what the task needs as the journal has it. What the journal names stays,
// of whatever epoch, until something newer is named. over says that the task needs nothing any more. Ids of tasks are in the order of
// time: a newer one is of a task whose line is about to be written.
func (t *Trees) keep(r *remote.Remote, task state.Task, over bool) func(remote.Ref) bool {
	named := map[string]bool{}
	for _, tree := range []string{task.Check.Tree, task.Submission.Tree} {
		if tree != "" {
			named[r.CommitOf(tree, task.BaseCommit)] = true
		}
	}
	return func(at remote.Ref) bool {
		branch, id, first := split(at.Task)
		switch {
		case branch != t.place.Branch || id > task.TaskID:
			return true
		case id < task.TaskID || over:
			return false
		}
		return first || at.Epoch >= task.Epoch || named[at.Commit]
	}
}

// known says which refs stay: all but those of a task that claim to be of a later epoch than the journal has. It reads the journal when it is asked
// first, which is after the refs were listed: a session raises the epoch there before it publishes.
func (t *Trees) known(name, id string) func(remote.Ref) bool {
	epoch := sync.OnceValue(func() uint64 {
		now, err := t.store.View()
		if err != nil || now.Task.TaskID != id {
			return math.MaxUint64
		}
		return now.Task.Epoch
	})
	return func(at remote.Ref) bool { return at.Task != name || at.Epoch <= epoch() }
}

// sweep deletes what keep does not want.
func (t *Trees) sweep(ctx context.Context, r *remote.Remote, keep func(remote.Ref) bool) error {
	_, err := r.Sweep(ctx, keep)
	return err
}

// End deletes what a task has left on the remote that nobody works on any more. A remote that does not answer is logged: the next task of the
// machine deletes it.
func (t *Trees) End(ctx context.Context, tree *worktree.Tree, task state.Task) {
	t.end(ctx, tree, func(r *remote.Remote) func(remote.Ref) bool { return t.keep(r, task, true) })
}

// Drop deletes what a branch has left on the remote that was removed. A remote that does not answer is logged.
func (t *Trees) Drop(ctx context.Context, tree *worktree.Tree, branch string) {
	t.end(ctx, tree, func(*remote.Remote) func(remote.Ref) bool {
		return func(at remote.Ref) bool { of, _, _ := split(at.Task); return of != branch }
	})
}

func (t *Trees) end(ctx context.Context, tree *worktree.Tree, keep func(*remote.Remote) func(remote.Ref) bool) {
	if on, err := t.On(); err != nil || !on || !tree.Git() {
		return
	}
	r, err := t.Open(ctx, tree.Repository, brief)
	if err == nil {
		err = t.sweep(ctx, r, keep(r))
	}
	if err != nil && ctx.Err() == nil {
		t.log.Warn("what is no longer needed stays on the git remote", "error", err)
	}
}
