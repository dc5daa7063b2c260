package published

import (
	"context"
	"errors"
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/worktree/exchange"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// Fetch brings the files of a task into the private object store of a repository: those of a commit that Push has returned, on whatever
// computer, or for "" the newest that the journal names. While a submission is reviewed, and once it is approved, these are its files; otherwise
// those of the newest check that were published. It also brings the files with which the task began, and its base commit.
//
// The error is a *refusal.RefusedError.
func (t *Trees) Fetch(ctx context.Context, repo *repository.Repository, task state.Task, commit string) (exchange.Snapshot, error) {
	r, err := t.Open(ctx, repo, 0)
	if err != nil {
		return exchange.Snapshot{}, err
	}
	list := []string{commit}
	if commit == "" {
		list = newest(r, task)
	}
	at := t.ref(task)
	var got exchange.Snapshot
	for i, id := range list {
		at.Commit = id
		if got, err = r.Fetch(ctx, at, task.BaseCommit); err == nil {
			if i > 0 {
				t.log.Warn("the files of the newest check were not published; older ones were fetched", "task", task.TaskID, "commit", id)
			}
			break
		}
		if !errors.Is(err, exchange.ErrMissing) {
			break
		}
	}
	lost := []string(nil)
	if err == nil {
		lost, err = repo.Missing(ctx, objects(task))
	}
	if err == nil && len(lost) > 0 {
		_, err = r.Fetch(ctx, exchange.Ref{Task: at.Task + base, Commit: r.CommitOf(task.BaseTree, task.BaseCommit)}, task.BaseCommit)
	}
	remedy := "then try again"
	if errors.Is(err, exchange.ErrMissing) {
		remedy = "the next check or submission there publishes them, if trees is set under [store] in the configuration there too; then try again"
	}
	return got, t.refused("the files of the work cannot be fetched", remedy, err)
}

// newest are the commits of the trees that the journal names, newest first. A reviewer gets what was submitted, or nothing.
func newest(r *exchange.Remote, task state.Task) (list []string) {
	trees := []string{task.Submission.Tree}
	if !task.Submitted() || task.Submission.Tree == "" {
		trees = []string{task.Check.Tree, task.Submission.Tree, task.BaseTree}
	}
	for _, tree := range trees {
		if tree == "" {
			continue
		}
		if id := r.CommitOf(tree, task.BaseCommit); !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}
