package publish

import (
	"context"
	"errors"
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// Fetch brings the files of a task into the private object store of a repository: those of a commit that Push has returned, on whatever
// computer, or for "" the newest that the journal names and the remote has. While a submission is reviewed, and once it is approved, these are its
// files. It also brings the files with which the task began, and its base commit.
//
// The error is a *refusal.RefusedError.
func (t *Trees) Fetch(ctx context.Context, repo *repository.Repository, task state.Task, commit string) (remote.Snapshot, error) {
	r, err := t.Open(ctx, repo, 0)
	if err != nil {
		return remote.Snapshot{}, err
	}
	at := t.ref(task)
	if at.Commit = commit; commit == "" {
		at.Commit = r.CommitOf(task.Newest(), task.BaseCommit)
	}
	got, err := r.Fetch(ctx, at, task.BaseCommit)
	if errors.Is(err, remote.ErrMissing) && commit == "" && !task.Submitted() {
		var older string
		if older, err = t.older(ctx, r, task); err == nil {
			t.log.Warn("the files of the newest check were not published; older ones are fetched", "task", task.TaskID, "commit", older)
			at.Commit = older
			got, err = r.Fetch(ctx, at, task.BaseCommit)
		}
	}
	lost := []string(nil)
	if err == nil {
		lost, err = repo.Missing(ctx, objects(task))
	}
	if err == nil && len(lost) > 0 {
		_, err = r.Fetch(ctx, remote.Ref{Task: at.Task + base, Commit: r.CommitOf(task.BaseTree, task.BaseCommit)}, task.BaseCommit)
	}
	var remedy refusal.Own = "then try again"
	if errors.Is(err, remote.ErrMissing) {
		remedy = "the next check or submission there publishes them, if trees is set under [store] in the configuration there too; then try again"
	}
	return got, t.refused("the files of the work cannot be fetched", remedy, err)
}

// searched is how many of the newest journal lines are searched for a tree that was published.
const searched = 1000

// older returns the commit of the newest tree that the journal names for a task and a ref of the remote has: a check that had begun is named before its
// tree is published. Without one it is that of the files with which the task began.
func (t *Trees) older(ctx context.Context, r *remote.Remote, task state.Task) (string, error) {
	refs, err := r.List(ctx, t.ref(task).Task)
	if err != nil {
		return "", err
	}
	held := map[string]bool{}
	for _, at := range refs {
		held[at.Commit] = true
	}
	var lines []*store.Line
	for l, err := range t.store.Newest(searched) {
		if err != nil {
			return "", err
		}
		lines = append(lines, l)
	}
	back := task.Seq
	for _, l := range slices.Backward(lines) {
		if l.Seq > back { // what was rolled back is not the task's any more
			continue
		}
		if l.Back > 0 {
			back = l.Back
		}
		if id := r.CommitOf(l.State.Newest(), task.BaseCommit); l.State.TaskID == task.TaskID && held[id] {
			return id, nil
		}
	}
	return r.CommitOf(task.BaseTree, task.BaseCommit), nil
}
