package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/live"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
)

const (
	brief = time.Minute // bounds a call of git about whose outcome nobody is refused
	tries = 5           // how often a ref is pushed that another process of the same epoch changes
)

// Begin publishes the files with which a task begins, and returns the commit on which its snapshots build: the one that is checked out. It is ""
// where work trees do not travel. A remote that does not take the files is logged, and is no error: the first Push publishes them again. why is its
// reason, "" if it takes them.
func (t *Trees) Begin(ctx context.Context, tree *worktree.Tree, task state.Task, publish bool) (commit, why string, err error) {
	on, err := t.On()
	if err != nil || !on || !tree.Git() {
		return "", "", err
	}
	if task.BaseCommit, _, err = tree.Head(ctx); err != nil {
		return "", "", refusal.Git(err)
	}
	if !publish {
		return task.BaseCommit, "", nil
	}
	r, err := t.Open(ctx, tree.Repository, brief)
	if err == nil {
		err = t.pushBase(ctx, r, task)
	}
	if err == nil {
		err = t.sweep(ctx, r, t.keep(r, task, false))
	}
	return task.BaseCommit, t.warn(task, t.refused("the files with which the task begins were not published, so no other computer can work on it", again, err)), nil
}

// again is the remedy where the files are published later.
const again = "the next check or submission publishes them"

// warn logs what could not be published, and returns it as a task has it: a line, for the git remote may have said anything.
func (t *Trees) warn(task state.Task, err error) (why string) {
	if err == nil {
		return ""
	}
	t.log.Warn(err.Error(), "task", task.TaskID)
	return format.OneLine(format.Line(safetext.Clean(err.Error())), handover.MaxLine)
}

// Push publishes a tree as the files of a task in its present epoch, and returns its commit. What another process of that epoch has published is
// replaced. Where the remote has lost the files with which the task began, they are published again. It returns "" where work trees do not
// travel. The error is a *refusal.RefusedError, of code LeaseLost where the remote and the journal have a later epoch.
func (t *Trees) Push(ctx context.Context, tree *worktree.Tree, task state.Task, id string) (commit string, err error) {
	return t.pushed(ctx, tree, task, id, 0, "then try again; to keep the files on this computer, a person removes trees from [store] in their own configuration")
}

// HandOver is Push of the files as they are now, for another computer. It is refused, with the code LeaseLost, where an agent of another computer
// has claimed the task: its files are the newest.
func (t *Trees) HandOver(ctx context.Context, tree *worktree.Tree, task state.Task, id string) (commit string, err error) {
	on, err := t.On()
	if err != nil || !on {
		return "", err
	}
	if task.ClaimedBy != "" && !live.IsSession(task.Session) && live.In(t.place.Dir()).Probe(task.Session) == lease.Unknown {
		return "", &refusal.RefusedError{Code: refusal.LeaseLost, Message: task.ClaimedBy + " works on the task on another computer: its files are the newest",
			Remedy: "nothing was published; ferrus status{branch} shows who has claimed the task"}
	}
	return t.Push(ctx, tree, task, id)
}

// Try is Push for what goes on without it. An error is logged, and returned as a text; "" for none.
func (t *Trees) Try(ctx context.Context, tree *worktree.Tree, task state.Task, id string) (why string) {
	_, err := t.pushed(ctx, tree, task, id, brief, again)
	if ctx.Err() != nil {
		return ""
	}
	return t.warn(task, err)
}

func (t *Trees) pushed(ctx context.Context, tree *worktree.Tree, task state.Task, id string, limit time.Duration, remedy refusal.Own) (string, error) {
	on, err := t.On()
	if err != nil || !on || !tree.Git() || id == "" || task.BaseTree == "" {
		return "", err
	}
	r, err := t.Open(ctx, tree.Repository, limit)
	if err != nil {
		return "", err
	}
	at := t.ref(task)
	commit, err := t.push(ctx, r, tree, task, id)
	if later, ok := errors.AsType[*remote.LaterError](err); ok {
		if now, wrong := t.store.View(); wrong == nil && now.Task.TaskID == task.TaskID && now.Task.Epoch < later.Later {
			// The journal decides. A removed branch of this name has left it, or a database that was restored from a backup.
			err = t.sweep(ctx, r, t.known(at.Task, task.TaskID))
			if err == nil {
				commit, err = t.push(ctx, r, tree, task, id)
			}
		}
	}
	if err != nil {
		return "", t.refused("the files of the work were not published", remedy, err)
	}
	if t.first(at) {
		if err := t.sweep(ctx, r, t.keep(r, task, false)); err != nil {
			t.log.Warn("what is no longer needed stays on the git remote", "error", err)
		}
	}
	return commit, nil
}

// push publishes both refs of a task. That of the files with which it began comes first: who finds the other one needs it.
func (t *Trees) push(ctx context.Context, r *remote.Remote, tree *worktree.Tree, task state.Task, id string) (string, error) {
	at := t.ref(task)
	lost, err := tree.Missing(ctx, objects(task))
	if err == nil && len(lost) > 0 { // of a task that another computer has made
		_, err = r.Fetch(ctx, remote.Ref{Task: at.Task + base, Commit: r.CommitOf(task.BaseTree, task.BaseCommit)}, task.BaseCommit)
	}
	was, known := t.pushedLast(at)
	if err == nil && !known {
		err = t.pushBase(ctx, r, task)
	}
	if err != nil {
		return "", err
	}
	at.Commit = was
	to, err := t.replace(ctx, r, at, id, task.BaseCommit, func() error { return t.pushBase(ctx, r, task) })
	return to.Commit, err
}

// objects are those without which the files of a task cannot be published.
func objects(task state.Task) []string {
	ids := []string{task.BaseTree}
	if task.BaseCommit != "" {
		ids = append(ids, task.BaseCommit)
	}
	return ids
}

func (t *Trees) pushBase(ctx context.Context, r *remote.Remote, task state.Task) error {
	at := t.ref(task)
	_, err := t.replace(ctx, r, remote.Ref{Task: at.Task + base}, task.BaseTree, task.BaseCommit, func() error { return nil })
	return err
}

// replace pushes to a ref, whatever that has: only processes of its own epoch push to it. It calls lost where the remote lacks a commit
// that this process has pushed.
func (t *Trees) replace(ctx context.Context, r *remote.Remote, at remote.Ref, tree, base string, lost func() error) (remote.Ref, error) {
	for try := 1; ; try++ {
		to, err := r.Push(ctx, at, tree, base)
		stale, ok := errors.AsType[*remote.StaleError](err)
		if ok && try < tries {
			if stale.Have == "" && at.Commit != "" {
				if err := lost(); err != nil {
					return at, err
				}
			}
			at.Commit = stale.Have
			continue
		}
		if err == nil {
			t.mu.Lock()
			t.last[key(at)] = to.Commit
			t.mu.Unlock()
		}
		return to, err
	}
}

func key(at remote.Ref) string { return fmt.Sprintf("%s/%d", at.Task, at.Epoch) }

// pushedLast returns what this process has pushed to a ref last, and whether it has.
func (t *Trees) pushedLast(at remote.Ref) (commit string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	commit, known = t.last[key(at)]
	return commit, known
}
