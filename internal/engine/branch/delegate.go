package branch

import (
	"context"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// MergeDelegate moves the work that a delegate has submitted, that of the session from, into the work tree of its executor,
// that of s. It is git's three-way merge from where the delegate began. The executor keeps its claim, and its checks judge the
// whole later. The error is a *ConflictError where git cannot merge the two: then nothing was changed. The same call finishes
// one that was interrupted, of whichever session: s may then be that of ferrus itself.
func MergeDelegate(ctx context.Context, s, from *engine.Session, id string) (Merged, error) {
	lock, err := alone(s.Engine())
	if err != nil {
		return Merged{}, err
	}
	defer lock.Close()
	m, err := look(ctx, s, from, ofDelegate(id))
	if err != nil {
		return Merged{}, err
	}
	done, err := m.run(ctx, nil)
	done.Files.Edited, done.Empty = append(done.Files.Edited, m.edits...), m.was.Task.Submission.Empty()
	return done, restore.WithEdits(err, done.Files.Edited)
}

// ofDelegate is the merge of a delegate.
func ofDelegate(id string) kind {
	return kind{
		mergeable: func(m *merging) error {
			if t := m.was.Task; t.State != state.Reviewing {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("delegate %s is %s and has nothing to merge", id, t.State),
					Remedy: "call delegate to wait for it"}
			}
			return nil
		},
		begin: func(m *merging, ctx context.Context, goal state.FileMove) (engine.Done, error) {
			return m.to.BeginDelegateMerge(ctx, id, goal)
		},
		end: func(m *merging, ctx context.Context, goal state.FileMove, tree string) (engine.Done, error) {
			return m.to.EndDelegateMerge(ctx, goal, tree)
		},
		again: "call delegate again",
	}
}

// ReturnDelegate gives submitted work that git cannot merge back to the delegate: with the executor's changes in its files, marks
// where git could not merge them, and a review that says so. The work is compared with the executor's files from then
// on. from is the session that rejects.
func ReturnDelegate(ctx context.Context, s, from *engine.Session, id string, c *ConflictError) error {
	lock, err := alone(s.Engine())
	if err != nil {
		return err
	}
	defer lock.Close()
	m, err := look(ctx, s, from, ofDelegate(id))
	if err != nil {
		return err
	}
	if err := m.into.SaveRef(ctx, refOf(m.from.Engine(), m.was.Task.TaskID, "base-"+m.was.Task.Submission.ID), c.ours); err != nil {
		return refusal.Git(err)
	}
	if err := m.undo(ctx); err != nil {
		return err
	}
	if err := m.writeTree(ctx, c.tree); err != nil {
		return err
	}
	text := "The work that this is a part of has moved on, and git cannot merge the two: " + conflicts(c.Conflicts) + ".\n\n" +
		"Your files have the other changes now. Git has marked the places where it can (<<<<<<<, =======, >>>>>>>; the first part is the " +
		"other side's). Make both work together, then check and submit.\n"
	if err := from.RejectOn(ctx, c.ours, c.marks, m.was.Task.Submission.ID, text); err != nil {
		return err
	}
	return m.forget(ctx)
}
