package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/document"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/snapshots"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// fence fences everybody at the project and has the files moved.
func (m *merging) fence(ctx context.Context, tree string, res *checks.Result, fenced func() error) (Merged, error) {
	if err := restore.In(m.into).Blocked(ctx, m.ours, tree); err != nil {
		return Merged{}, &refusal.RefusedError{Code: refusal.TreeChanged, Message: err.Error(), Remedy: "nothing was moved; try again then", Person: true}
	}
	looked := m.now.Task
	// Whatever happens from here on, what it leads to is kept.
	goal := m.to.e.snapshotRef(cmp.Or(looked.TaskID, snapshots.Unassigned), fmt.Sprintf("%d.goal", looked.Seq+1))
	if err := m.into.SaveRef(ctx, goal, tree); err != nil {
		return Merged{}, refusal.Git(err)
	}
	begun, err := m.to.commit(ctx, transition{event: state.MergeBegun, note: m.note(),
		check: func(now store.Snapshot) error {
			if now.Task.TaskID != looked.TaskID || now.Task.Underway() != looked.Underway() {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: "the project's task has changed", Remedy: "try again", Person: true}
			}
			return nil
		},
		lay: func(_ store.Snapshot, next *state.Task) {
			next.Returning = state.FileMove{From: m.from.e.place.Branch, Was: m.ours, Tree: tree}
		}})
	if err != nil {
		return Merged{}, err
	}
	return m.fenceAndMove(ctx, begun.Snapshot, res, fenced)
}

// fenceAndMove goes on when everybody at the project is fenced, to the end, whoever wants to stop now.
func (m *merging) fenceAndMove(ctx context.Context, begun store.Snapshot, res *checks.Result, fenced func() error) (Merged, error) {
	if fenced != nil {
		if err := fenced(); err != nil {
			return Merged{}, err
		}
	}
	return m.moveFiles(context.WithoutCancel(ctx), begun, res)
}

// moveFiles moves the files and enters the merge into both journals, the project's last: until then it knows that there is
// something to finish. What lies there may be half moved already, or edited in the last moment: that is merged like anything
// else.
func (m *merging) moveFiles(ctx context.Context, begun store.Snapshot, res *checks.Result) (Merged, error) {
	goal := begun.Task.Returning
	from, err := m.to.e.keepBefore(ctx, begun)
	if err != nil {
		return Merged{}, err
	}
	from, tree, err := m.combine(ctx, begun, from)
	if err != nil {
		return Merged{}, err
	}
	moved, err := restore.In(m.into).Restore(ctx, from, tree, m.to.e.editsOf(begun))
	if err != nil {
		return Merged{Files: moved}, &refusal.RefusedError{Code: refusal.StoreError, Message: err.Error(), Remedy: "then call ferrus merge " + goal.From + " again", Person: true}
	}
	_, err = m.from.commit(ctx, transition{event: state.Merge, note: "into the project",
		check: func(now store.Snapshot) error {
			if now.Task.State != state.Complete || now.Task.Merged != "" {
				return errEntered
			}
			return nil
		},
		lay: func(_ store.Snapshot, next *state.Task) { next.Merged = tree }})
	if err != nil && !errors.Is(err, errEntered) {
		return Merged{Files: moved}, err
	}
	m.from.e.archive(m.was)
	done, err := m.to.commit(ctx, m.adopting(goal, tree))
	if err != nil {
		return Merged{Files: moved}, err
	}
	m.to.e.archiveEnded(done.Snapshot)
	return Merged{Snapshot: done.Snapshot, Tree: tree, Files: moved, Checks: res}, nil
}

// errEntered: the branch has the merge in its journal, or its work has been taken up again since it was cut off.
var errEntered = errors.New("nothing to enter")

// combine is what is to come of the project's files, now that the merge has begun, and the snapshot of them that counts: that of
// before the merge if nobody has edited any since, so that what is half moved is finished and nothing else is written over.
func (m *merging) combine(ctx context.Context, begun store.Snapshot, now string) (from, to string, err error) {
	goal := begun.Task.Returning
	edited := m.to.e.edited(ctx, begun, now, goal.Was, goal.Tree)
	if len(edited) == 0 { // git's merge could take what is half moved for something else
		return goal.Was, goal.Tree, nil
	}
	got, err := m.into.Merge(ctx, goal.Was, now, goal.Tree)
	if err != nil {
		return "", "", refusal.Git(err)
	}
	if len(got.Conflicts) > 0 {
		return "", "", &refusal.RefusedError{Code: refusal.TreeChanged, Message: "while " + goal.From + " is being merged somebody has edited " + document.Clip(strings.Join(edited, " "), 600),
			Remedy: "undo that edit and call ferrus merge " + goal.From + " again", Person: true}
	}
	return now, got.Tree, nil
}

// adopting is the merge at the project. A task of its own that is not over is the one that was branched, and has the
// branch's submission then.
func (m *merging) adopting(goal state.FileMove, tree string) transition {
	a := transition{event: state.Merge, note: m.note(),
		check: func(now store.Snapshot) error {
			if now.Task.Returning != goal {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: "the merge was ended by a rollback or a reset of the project's task",
					Remedy: "ferrus log shows which", Person: true}
			}
			return nil
		}}
	if !m.now.Task.Underway() {
		return a
	}
	if text, err := m.from.e.store.Text(m.was, state.SubmissionDoc); err == nil && text != "" {
		a.docs = map[state.Doc]string{state.SubmissionDoc: text}
	}
	a.lay = func(_ store.Snapshot, next *state.Task) {
		next.Submission = state.Submission{ID: m.was.Task.Submission.ID, Tree: tree, Base: next.BaseTree}
	}
	return a
}

func (m *merging) note() string {
	return document.Clip(fmt.Sprintf("%s: %s", m.from.e.place.Branch, m.was.Task.Title), document.MaxLine)
}

// Resolve gives work that does not fit the project back to its executor, with the project's changes in its files, marks
// where git could not merge them, and a review that says so. The project's files as they are become what it is compared
// with. Whoever mends it has it checked, reviewed and merged again.
func (s *Session) Resolve(ctx context.Context, from *Session, c *ConflictError) (Done, error) {
	lock, err := s.aloneMerging()
	if err != nil {
		return Done{}, err
	}
	defer lock.Close()
	m, err := s.merging(ctx, from)
	if err != nil {
		return Done{}, err
	}
	if err := m.into.SaveRef(ctx, m.from.e.snapshotRef(m.was.Task.TaskID, "base-"+m.was.Task.Submission.ID), c.ours); err != nil {
		return Done{}, refusal.Git(err)
	}
	if err := m.lay(ctx, c.tree); err != nil {
		return Done{}, err
	}
	text := "The project has moved on, and this work does not fit it: " + c.Message + ".\n\n" +
		"The files have the project's changes now. Make both work together: neither side's purpose may be lost. Then check and submit.\n"
	if len(c.Conflicts) > 0 {
		text += "\nGit could not merge these, and has marked the places in the text where it can (<<<<<<<, =======, >>>>>>>; the first part is the project's):\n"
		for _, f := range c.Conflicts {
			text += fmt.Sprintf("- %s (%s)\n", f.Path, f.Kind)
		}
	}
	done, err := from.commit(ctx, transition{event: state.Reopen, docs: map[state.Doc]string{state.ReviewDoc: text}, note: "to be merged: " + document.Clip(c.Message, document.MaxLine-20),
		lay: func(_ store.Snapshot, next *state.Task) {
			resetFailureStreak(next)
			next.BaseTree = c.ours
		}})
	if err != nil {
		return done, err
	}
	return done, m.forget(ctx)
}

// Select notes that of several attempts at a task this approved one is taken.
func (s *Session) Select(ctx context.Context, reason string) (Done, error) {
	if err := checkReason("the reason", reason); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Select, note: reason})
}
