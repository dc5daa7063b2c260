package branch

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// fence fences everybody at the project and has the files moved.
func (m *merging) fence(ctx context.Context, tree string, res *checks.Result, fenced func() error) (Merged, error) {
	if err := restore.In(m.into).Blocked(ctx, m.ours, tree); err != nil {
		return Merged{}, &refusal.RefusedError{Code: refusal.TreeChanged, Message: err.Error(), Remedy: "nothing was moved; try again then", Person: true}
	}
	looked := m.now.Task
	// The merged tree has a ref before anything moves, so that an interrupted merge can be finished.
	goal := refOf(m.to.Engine(), cmp.Or(looked.TaskID, snapshots.Unassigned), fmt.Sprintf("%d.goal", looked.Seq+1))
	if err := m.into.SaveRef(ctx, goal, tree); err != nil {
		return Merged{}, refusal.Git(err)
	}
	begun, err := m.begin(m, ctx, state.FileMove{From: m.from.Engine().Place().Branch, Was: m.ours, Tree: tree})
	if err != nil {
		return Merged{}, err
	}
	return m.fenceAndMove(ctx, begun.Snapshot, res, fenced)
}

// fenceAndMove continues once everybody at the project is fenced, and does not stop when ctx ends.
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
	from, err := m.to.Engine().Keep(ctx, begun)
	if err != nil {
		return Merged{}, err
	}
	from, tree, err := m.combine(ctx, begun, from)
	if err != nil {
		return Merged{}, err
	}
	moved, err := restore.In(m.into).Restore(ctx, from, tree, m.to.Engine().EditsName(begun))
	if err != nil {
		return Merged{Files: moved}, &refusal.RefusedError{Code: refusal.StoreError, Message: err.Error(), Remedy: refusal.Say("then %s", m.again), Person: true}
	}
	done, err := m.end(m, ctx, goal, tree)
	if err != nil {
		return Merged{Files: moved}, err
	}
	return Merged{Snapshot: done.Snapshot, Tree: tree, Files: moved, Checks: res}, nil
}

// combine is what is to come of the project's files, now that the merge has begun, and the snapshot of them that counts: that of
// before the merge if nobody has edited any since, so that what is half moved is finished and nothing else is written over.
func (m *merging) combine(ctx context.Context, begun store.Snapshot, now string) (from, to string, err error) {
	goal := begun.Task.Returning
	edited := edited(ctx, m.to.Engine(), begun, now, goal.Was, goal.Tree)
	if len(edited) == 0 { // git's merge could take what is half moved for something else
		return goal.Was, goal.Tree, nil
	}
	got, err := m.into.Merge(ctx, goal.Was, now, goal.Tree)
	if err != nil {
		return "", "", refusal.Git(err)
	}
	if len(got.Conflicts) > 0 {
		return "", "", &refusal.RefusedError{Code: refusal.TreeChanged, Message: "while " + goal.From + " is being merged somebody has edited " + format.OneLine(strings.Join(edited, " "), 600),
			Remedy: refusal.Say("undo that edit and %s", m.again), Person: true}
	}
	return now, got.Tree, nil
}

func (m *merging) beginByPerson(ctx context.Context, goal state.FileMove) (engine.Done, error) {
	return m.to.BeginMerge(ctx, m.now.Task, goal, m.note())
}

func (m *merging) endByPerson(ctx context.Context, goal state.FileMove, tree string) (engine.Done, error) {
	if err := m.from.EnterMerge(ctx, m.was, tree); err != nil {
		return engine.Done{}, err
	}
	return m.to.EndMerge(ctx, goal, m.note(), m.handover(tree))
}

// handover is what the task that was branched gets, nil where the project has none or it has ended.
func (m *merging) handover(tree string) *engine.Handover {
	if !m.now.Task.Underway() {
		return nil
	}
	over := &engine.Handover{Submission: state.Submission{ID: m.was.Task.Submission.ID, Tree: tree}}
	if text, err := store.Text(m.from.Engine().Store(), m.was, state.SubmissionDoc); err == nil {
		over.Text = text
	}
	return over
}

func (m *merging) note() string {
	return format.OneLine(fmt.Sprintf("%s: %s", m.from.Engine().Place().Branch, m.was.Task.Title), handover.MaxLine)
}

// Resolve gives work that does not fit the project back to its executor, with the project's changes in its files, marks
// where git could not merge them, and a review that says so. The project's files as they are become what it is compared
// with. The executor who fixes it has it checked, reviewed and merged again.
func Resolve(ctx context.Context, s, from *engine.Session, c *ConflictError) (engine.Done, error) {
	lock, err := alone(s.Engine())
	if err != nil {
		return engine.Done{}, err
	}
	defer lock.Close()
	m, err := look(ctx, s, from, byPerson(from.Engine().Place().Branch))
	if err != nil {
		return engine.Done{}, err
	}
	if err := m.into.SaveRef(ctx, refOf(m.from.Engine(), m.was.Task.TaskID, "base-"+m.was.Task.Submission.ID), c.ours); err != nil {
		return engine.Done{}, refusal.Git(err)
	}
	if err := m.writeTree(ctx, c.tree); err != nil {
		return engine.Done{}, err
	}
	text := "The project has moved on, and this work does not fit it: " + c.Message + ".\n\n" +
		"The files have the project's changes now. Make both work together: neither side's purpose may be lost. Then check and submit.\n"
	if len(c.Conflicts) > 0 {
		text += "\nGit could not merge these, and has marked the places in the text where it can (<<<<<<<, =======, >>>>>>>; the first part is the project's):\n"
		for _, f := range c.Conflicts {
			text += fmt.Sprintf("- %s (%s)\n", f.Path, f.Kind)
		}
	}
	done, err := from.ReopenOn(ctx, c.ours, c.marks, text, "to be merged: "+format.OneLine(c.Message, handover.MaxLine-20))
	if err != nil {
		return done, err
	}
	return done, m.forget(ctx)
}
