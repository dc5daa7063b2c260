package engine

import (
	"context"
	"maps"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Frozen returns the documents by which a delegate has the gate and the environment of this task; see
// [config.Gate.OfDelegate].
func (e *Engine) Frozen(now store.Snapshot) (map[state.Doc]string, error) {
	gate, err := e.settings.Gate(now)
	if err != nil {
		return nil, err
	}
	docs := map[state.Doc]string{store.GateDoc: string(gate.OfDelegate().Encode())}
	env, err := store.Text(e.store, now, store.EnvironDoc)
	if err == nil && env != "" {
		docs[store.EnvironDoc] = env
	}
	return docs, err
}

// CreateDelegated gives a delegate's branch its task, with what its parent has frozen. A set-up runs on the tree setUp, "" for the base.
func (s *Session) CreateDelegated(ctx context.Context, text string, frozen map[state.Doc]string, setUp string) (Done, error) {
	docs := map[state.Doc]string{state.TaskDoc: text}
	maps.Copy(docs, frozen)
	return s.begin(ctx, store.Snapshot{}, state.Task{Title: safetext.Line(handover.TitleOf(text)), SetUpTree: setUp}, docs)
}

// ApproveMerged approves the submission of a delegate, which is in the work tree of its executor as a
// part of tree.
func (s *Session) ApproveMerged(ctx context.Context, submission, tree string) (Done, error) {
	done, err := s.commit(ctx, transition{event: state.Approve, arg: submission, check: ofSubmission(submission),
		apply: func(_ store.Snapshot, next *state.Task) { next.Merged = tree }})
	if err == nil {
		s.e.archiveEnded(done.Snapshot)
	}
	return done, err
}

// RejectOn sends the submission of a delegate back, to be compared with base from now on. marks are as in [Session.ReopenOn].
func (s *Session) RejectOn(ctx context.Context, base string, marks []string, submission, text string) error {
	done, err := s.commit(ctx, transition{event: state.Reject, docs: map[state.Doc]string{state.ReviewDoc: text}, note: format.OneLine(text, handover.MaxLine),
		arg: submission, check: ofSubmission(submission),
		apply: func(_ store.Snapshot, next *state.Task) { next.BaseTree, next.Marks = base, marks }})
	if err == nil {
		s.e.archiveEnded(done.Snapshot)
	}
	return err
}

// ofSubmission refuses a decision about another submission than the present one.
func ofSubmission(id string) func(store.Snapshot) error {
	return func(now store.Snapshot) error {
		if now.Task.Submission.ID == id {
			return nil
		}
		return &refusal.RefusedError{Code: refusal.StaleReview, Message: "submission " + id + " is not the present one", Remedy: "call delegate to be shown it"}
	}
}

// Delegated reports whether the task is a delegate that is open: its executor is supervised by that of
// another machine of the project, which it reads.
func (e *Engine) Delegated(now store.Snapshot) bool {
	by := now.Task.Parent
	if by == (state.Parent{}) {
		return false
	}
	s, err := project.At(e.place.Root, by.Branch).Open(project.StoreOptions{ReadOnly: true, Log: e.log})
	if err != nil {
		return false
	}
	defer s.Close()
	snap, err := s.View()
	d, known := snap.Task.Delegate(by.ID)
	return err == nil && known && d.Open() && d.Branch == e.place.Branch
}

// undelegated refuses what only the executor that delegated the task may do.
func (e *Engine) undelegated(now store.Snapshot, remedy refusal.Own) error {
	if !e.Delegated(now) {
		return nil
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: "this task is delegate " + now.Task.Parent.ID + " of another executor, which decides about it", Remedy: remedy}
}

// ShowDelegate notes that the session has been shown what a delegate waits with: the id of a submission
// or of a consultation.
func (s *Session) ShowDelegate(id, on string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]string{}
	}
	s.seen[id] = on
}

// VerifyShown refuses a decision about what the session has not been shown, or about something else than
// what the delegate waits with. named is what the caller named, "" for nothing.
func (s *Session) VerifyShown(id, named, present string) error {
	s.mu.Lock()
	shown := s.seen[id] == present
	s.mu.Unlock()
	return s.stale("submission", named, present, shown, "delegate") // the argument has that name for both
}

// MayDelegate refuses the executor's dealings with delegates to everybody but the one that holds the work,
// and where the work is not in its hands.
func (s *Session) MayDelegate(now store.Snapshot) error {
	ev := state.DelegateStarted
	if now.Task.Returning.Of != "" {
		ev = state.DelegateMerged
	}
	if err := s.verifyClaim(now, ev); err != nil {
		return err
	}
	_, err := state.Step(now.Task, ev, s.As(now.Task), state.Limits{})
	return refusal.From(err)
}

// Context ends when the engine is closed.
func (e *Engine) Context() context.Context { return e.ctx }
