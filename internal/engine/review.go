package engine

import (
	"context"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// AwaitReview waits until the supervisor is needed: for a submission, for a consultation, or because the task has
// ended or there is none. What it returns is shown to the session: its decisions bind to that.
func (s *Session) AwaitReview(ctx context.Context, wait time.Duration) (store.Snapshot, error) {
	snap, err := s.e.await(ctx, wait, func(now store.Snapshot) (bool, error) {
		switch now.Task.State {
		case state.Reviewing, state.Idle, state.Complete, state.Failed:
			return true, nil
		case state.Consultation:
			return !now.Task.Consultation.Answered, nil
		}
		return false, nil
	})
	if err == nil && snap.Task.State == state.Consultation {
		s.show(snap.Task, "", snap.Task.Consultation.ID)
	}
	return snap, err
}

// A Review is what a reviewer needs to see.
type Review struct {
	Task       string
	Submission string
	Diffstat   string
	Patch      string              // absolute path; "" without git. Hidden characters are marks in it
	PatchExact string              // absolute path of the patch for git, where that is another file
	Last       string              // the notes of the rejection before; "" when there was none
	LastBy     string              // who rejected, and from which process tree; "" when nobody did
	Decisions  []handover.Decision // a person's, newest first
	Cut        []handover.Cut      // that there are more of them than fit
	Notices    []string            // what the patch does not show although it may matter, and hidden characters
}

// maxReviewed is how much of a person's decisions a reviewer is shown, in bytes of JSON.
const maxReviewed = 3 << 10

// Review returns the submission that is to be reviewed, and shows it to the session.
func (s *Session) Review(ctx context.Context) (Review, store.Snapshot, error) {
	now, err := s.e.View()
	if err != nil {
		return Review{}, now, err
	}
	r, err := s.e.ReviewOf(ctx, now, s.Role)
	if err != nil {
		return Review{}, now, err
	}
	s.show(now.Task, now.Task.Submission.ID, "")
	return r, now, nil
}

// diffstat is the change from the task's base to a tree.
func (e *Engine) diffstat(ctx context.Context, snap store.Snapshot, to string) (string, error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return "", err
	}
	text, err := tree.Diffstat(ctx, snap.Task.BaseTree, to)
	if err != nil {
		return "", refusal.Git(err)
	}
	return text, nil
}

// Approve ends the task. It binds to what was submitted: the work tree must still be that tree.
func (s *Session) Approve(ctx context.Context, note, id string) (Done, error) {
	if err := checkReason("note", note); err != nil {
		return Done{}, err
	}
	now, err := s.e.View()
	if err != nil {
		return Done{}, err
	}
	if err := s.e.undelegated(now, "wait until it has decided"); err != nil {
		return Done{}, err
	}
	sub := now.Task.Submission
	if now.Task.State == state.Reviewing && sub.Tree != "" {
		if err := s.e.place.HasFiles(now.Files); err != nil {
			return Done{}, err
		}
		tree, err := s.e.fingerprint(ctx, now)
		if err != nil {
			return Done{}, err
		}
		if overtaken(sub, tree) {
			return Done{}, &refusal.RefusedError{Code: refusal.TreeChanged, Message: "the work tree is no longer the one that " + sub.ID +
				" submitted: " + format.OneLine(strings.Join(s.e.Changed(ctx, now, sub.Tree, tree), " "), 600), Remedy: "reject, so that the executor checks and submits again"}
		}
	}
	done, err := s.commit(ctx, transition{event: state.Approve, note: note, arg: id, check: s.bound(now.Task, id)})
	if err == nil {
		s.e.archiveEnded(done.Snapshot)
	}
	return done, err
}

// Reject sends the work back with notes, and fails the task when the reviews are used up.
func (s *Session) Reject(ctx context.Context, notes, id string) (Done, error) {
	if err := handover.CheckText("notes", notes, store.MaxDoc); err != nil {
		return Done{}, err
	}
	now, err := s.e.View()
	if err != nil {
		return Done{}, err
	}
	done, err := s.commit(ctx, transition{event: state.Reject, docs: map[state.Doc]string{state.ReviewDoc: notes}, note: format.OneLine(notes, handover.MaxLine),
		arg: id, check: s.bound(now.Task, id)})
	if err == nil {
		s.e.archiveEnded(done.Snapshot)
	}
	return done, err
}

// overtaken reports whether the work tree is no longer the one that was submitted. Without git nobody can tell.
func overtaken(sub state.Submission, tree string) bool { return sub.Tree != "" && sub.Tree != tree }

// bound refuses a decision about another submission than the one looked at and shown. Ids are counted anew in every
// task, and nobody compares the work tree with a submission that is not under review.
func (s *Session) bound(looked state.Task, named string) func(store.Snapshot) error {
	return func(now store.Snapshot) error {
		is := now.Task
		if looked.State != state.Reviewing || is.Submission.ID != looked.Submission.ID || is.TaskID != looked.TaskID {
			return &refusal.RefusedError{Code: refusal.StaleReview, Message: "the work has come under review only just now", Remedy: "call review_pending to be shown it"}
		}
		shown, _ := s.Shown(is)
		return s.stale("submission", named, is.Submission.ID, shown, "review_pending")
	}
}

// Uncommitted reports whether approved work lies in the work tree and is not in the commit that is checked out there. It is
// false, and logged, where git cannot tell.
func (e *Engine) Uncommitted(ctx context.Context, snap store.Snapshot) bool {
	tree, err := e.Tree(ctx, snap)
	open := false
	if err == nil {
		open, err = e.differences.Uncommitted(ctx, tree, snap.Task)
	}
	if err != nil {
		e.log.Warn("not known whether the work is committed", "error", err)
	}
	return open
}
