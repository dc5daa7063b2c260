package branch

import (
	"context"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// Begin has the branch of f, for a task of its own, begin with approved work that the project's files do not have, in the order in which it is given. The
// error is a *ConflictError where two do not fit each other or the project's files, and a *refusal.RefusedError where the files of one are not on this
// computer.
func (f *Fork) Begin(ctx context.Context, s *engine.Session, work []Work) error {
	now, err := s.Engine().View()
	if err != nil || len(work) == 0 {
		return err
	}
	tree, err := s.Engine().Tree(ctx, now)
	if err != nil {
		return err
	}
	own := now.Task.BaseTree
	if !now.Task.Underway() {
		if own, err = tree.Snapshot(ctx); err != nil {
			return refusal.Git(err)
		}
	}
	for _, w := range work {
		if in, err := merged(ctx, tree, s.Engine().Place(), w.Task); err != nil || in {
			if err != nil {
				return err
			}
			continue
		}
		if f.Tree == "" {
			f.Tree = own
		}
		if err := bringWork(ctx, s.Engine(), w); err != nil {
			return err
		}
		got, err := tree.Merge(ctx, w.Task.BaseTree, f.Tree, w.Task.Submission.Tree)
		if err != nil {
			return refusal.Git(err)
		}
		if len(got.Conflicts) > 0 {
			return &ConflictError{Conflicts: got.Conflicts, Branch: w.Branch, work: Standing{Work: work}.WorkID(), RefusedError: refusal.RefusedError{Code: refusal.Conflict, Person: true,
				Message: unfit(w.Branch, conflicts(got.Conflicts)),
				Remedy:  refusal.Say("merge what it needs into the project, one after the other: ferrus merge %s", w.Branch)}}
		}
		f.Tree = got.Tree
		if w.Task.Merged == "" {
			f.BeganWith = append(f.BeganWith, state.Beginning{Branch: w.Branch, TaskID: w.Task.TaskID})
		}
		if confine.Of(project.At(s.Engine().Place().Root, w.Branch).Dir()).Used() {
			f.SetUp = own
		}
	}
	return nil
}

// unfit says whose work does not fit, and where.
func unfit(branch, paths string) string {
	return "the work of " + branch + " does not fit what else the task begins with: " + paths
}

// RecordConflict writes the error of [Fork.Begin] into the head of a task that waits, where [Tasks.Standing] finds it until the work is another one.
func RecordConflict(it queue.Item, err *ConflictError) error {
	return queue.Change(it, func(text string, h queue.Head) (string, queue.Head) {
		h.Conflict = queue.Conflict{Work: err.work, Branch: err.Branch, Paths: format.OneLine(conflicts(err.Conflicts), 200)}
		return text, h
	})
}

// merged reports whether the project's files have the work of a task: it was merged, on this computer.
func merged(ctx context.Context, tree *worktree.Tree, place project.Place, t state.Task) (bool, error) {
	if t.Merged == "" || !place.InDatabase() {
		return t.Merged != "", nil
	}
	missing, err := tree.Missing(ctx, []string{t.Merged})
	if err != nil {
		return false, refusal.Git(err)
	}
	return len(missing) == 0, nil
}

// bringWork brings the files of approved work into the repository, where every work tree has them.
func bringWork(ctx context.Context, e *engine.Engine, w Work) error {
	on, err := project.At(e.Place().Root, "").On(w.Branch)
	if err != nil {
		return err
	}
	b, err := e.Beside(on)
	if err != nil {
		return err
	}
	defer b.Close()
	now, err := b.View()
	if err != nil {
		return err
	}
	if on.Here() != nil {
		return (&bringing{e: b, on: on, now: now}).fetch(ctx, "")
	}
	work, err := b.Tree(ctx, now)
	if err != nil {
		return err
	}
	if err := work.SaveRef(ctx, refOf(b, w.Task.TaskID, fmt.Sprint(now.Task.Seq)), w.Task.Submission.Tree); err != nil {
		return refusal.Git(err)
	}
	return nil
}
