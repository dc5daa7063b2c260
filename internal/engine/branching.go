package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Beside opens another machine of the engine's project, with the same options.
func (e *Engine) Beside(place project.Place) (*Engine, error) { return Open(place, e.opts) }

// Log returns the engine's log; never nil.
func (e *Engine) Log() *slog.Logger { return e.log }

// Now returns the time as it is written: UTC, in milliseconds.
func (e *Engine) Now() time.Time { return e.stamp() }

// Runner returns what runs the checks of the machine.
func (e *Engine) Runner() *checkrun.Runner { return e.runner }

// Personal returns what a new task freezes of the environment: that of the person whose command this is, else that of the
// newest command of a person in this project; nil where none is known.
func (e *Engine) Personal() proc.Frozen { return e.settings.Personal() }

// Fork makes the machine of a branch as a draft and moves it into its place: with the journal up to upto bytes, and a first
// event of its own, in whose line note stands. The branch has the executor of as, if as names one, works for its parent, and has begun with what as began
// with, too. The set-up of its first task runs on its SetUpTree.
func (s *Session) Fork(ctx context.Context, draft string, on project.Place, upto int64, as state.Task, note string) error {
	made := store.Branch{Name: on.Branch, Draft: draft, Dir: on.Dir(), Backup: on.Backup}
	if s.e.origin != nil {
		made.Begin = project.NewJudge(s.e.ctx, on, s.e.opts.Project, time.Time{}).Begin
	}
	return refusal.From(s.e.store.Fork(ctx, made, upto, func(was store.Snapshot) (*store.Change, error) {
		next, err := state.Step(was.Task, state.Branch, s.Role, state.Limits{})
		if err != nil {
			return nil, err
		}
		next.Branch = on.Branch
		if as.Variant.Agent != "" {
			next.Variant, next.Assigned = as.Variant, state.Assigned{}
		}
		next.Parent = as.Parent // a branch of a delegate is none itself
		next.BeganWith = append(next.BeganWith, as.BeganWith...)
		if next.TaskID == "" {
			next.SetUpTree = as.SetUpTree
		}
		if next.Worktree = ""; next.TaskID != "" && !s.e.published.Shared() {
			next.Worktree = on.Work
		}
		return &store.Change{Actor: s.actor(s.Role), Event: state.Branch, Next: next, Note: note}, nil
	}))
}

// BeginMerge fences the agents that work on the project's own machine, because files are being moved to what goal says. looked is the
// task that the caller has looked at: another one by now is refused.
func (s *Session) BeginMerge(ctx context.Context, looked state.Task, goal state.FileMove, note string) (Done, error) {
	return s.commit(ctx, transition{event: state.MergeBegun, note: note,
		check: func(now store.Snapshot) error {
			if now.Task.TaskID != looked.TaskID || now.Task.Underway() != looked.Underway() {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: "the project's task has changed", Remedy: "try again", Person: true}
			}
			return nil
		},
		apply: func(_ store.Snapshot, next *state.Task) { next.Returning = goal }})
}

// A Handover is what a merge hands over to the task that the branch was made from.
type Handover struct {
	Submission state.Submission
	Text       string // of the submission; "" for none
}

// EndMerge ends the merge that BeginMerge began with goal. A task of the machine that has not ended is the one that was
// branched, and gets what is handed over; nil where there is none.
func (s *Session) EndMerge(ctx context.Context, goal state.FileMove, note string, over *Handover) (Done, error) {
	t := transition{event: state.Merge, note: note,
		check: func(now store.Snapshot) error {
			if now.Task.Returning != goal {
				return &refusal.RefusedError{Code: refusal.WrongState, Message: "the merge was ended by a rollback or a reset of the project's task",
					Remedy: "ferrus log{branch} shows which", Person: true}
			}
			return nil
		}}
	if over != nil {
		if over.Text != "" {
			t.docs = map[state.Doc]string{state.SubmissionDoc: over.Text}
		}
		t.apply = func(_ store.Snapshot, next *state.Task) {
			next.Submission = over.Submission
			next.Submission.Base = next.BaseTree
		}
	}
	done, err := s.commit(ctx, t)
	if err == nil {
		s.e.archiveEnded(done.Snapshot)
	}
	return done, err
}

// errEntered: the branch has the merge in its journal, or its work has been reopened since the merge was interrupted.
var errEntered = errors.New("nothing to enter")

// EnterMerge enters into the journal of a branch that its work is in the project, whose files are tree then. Where it stands
// there already, or the work was reopened, nothing is entered. was is what was merged: it is archived.
func (s *Session) EnterMerge(ctx context.Context, was store.Snapshot, tree string) error {
	_, err := s.commit(ctx, transition{event: state.Merge, note: "into the project",
		check: func(now store.Snapshot) error {
			if now.Task.State != state.Complete || now.Task.Merged != "" {
				return errEntered
			}
			return nil
		},
		apply: func(_ store.Snapshot, next *state.Task) { next.Merged = tree }})
	if err != nil && !errors.Is(err, errEntered) {
		return err
	}
	s.e.archive(was)
	s.e.ended(was)
	return nil
}

// ReopenOn sends approved work back to its executor, with a review, and with base as what it is compared with from now on. marks are
// those of the conflicts in its files: it is not submitted with them.
func (s *Session) ReopenOn(ctx context.Context, base string, marks []string, review, note string) (Done, error) {
	return s.commit(ctx, transition{event: state.Reopen, docs: map[state.Doc]string{state.ReviewDoc: review}, note: note,
		apply: func(_ store.Snapshot, next *state.Task) {
			resetFailureStreak(next)
			next.BaseTree, next.Marks = base, marks
		}})
}
