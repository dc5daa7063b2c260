package engine

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Reopen sends a finished or failed task back to work with a message, which becomes its review.
func (s *Session) Reopen(ctx context.Context, message string) (Done, error) {
	if err := handover.CheckText("the message", message, store.MaxDoc); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Reopen, docs: map[state.Doc]string{state.ReviewDoc: message}, note: format.OneLine(message, handover.MaxLine),
		apply: func(_ store.Snapshot, next *state.Task) { resetFailureStreak(next) }})
}

// resetFailureStreak starts the count of the same trouble anew: a person has spoken, and what was in a row is no longer.
func resetFailureStreak(next *state.Task) { next.Check.Errors, next.Check.Same = 0, 0 }

// Release takes the work away from its holder.
func (s *Session) Release(ctx context.Context, reason string) (Done, error) {
	if err := checkReason("the reason", reason); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Release, note: reason})
}

// Reset gives the task up: it is archived, and the machine is Idle. The holder is fenced.
func (s *Session) Reset(ctx context.Context, reason string) (Done, error) {
	if err := checkReason("the reason", reason); err != nil {
		return Done{}, err
	}
	var before store.Snapshot
	done, err := s.commit(ctx, transition{event: state.Reset, note: reason, check: func(now store.Snapshot) error {
		before = now
		return nil
	}})
	if err == nil && !done.Repeated {
		s.e.archive(before)
		s.e.ended(before)
		gc.DropCheckouts(s.e.place, s.e.log)
	}
	return done, err
}

// checkReason refuses a text that cannot stand in the log; an empty one is fine.
func checkReason(name, text string) error {
	if text == "" {
		return nil
	}
	return handover.CheckText(name, text, maxNote)
}

// archiveEnded archives a task that has just ended.
func (e *Engine) archiveEnded(snap store.Snapshot) {
	if snap.Task.State.Over() {
		e.archive(snap)
	}
	if snap.Task.State == state.Complete && e.place.Branch == "" { // the work of a branch is to be merged yet
		e.ended(snap)
	}
}

// archive makes the archive's view of a task. The journal has it all: a failure is only told.
func (e *Engine) archive(snap store.Snapshot) {
	if err := e.place.Archive(e.store, snap); err != nil {
		e.log.Warn("task not archived", "error", err)
	}
}

// Select notes that of several attempts at a task this approved one is taken.
func (s *Session) Select(ctx context.Context, reason string) (Done, error) {
	if err := checkReason("the reason", reason); err != nil {
		return Done{}, err
	}
	return s.commit(ctx, transition{event: state.Select, note: reason, check: func(now store.Snapshot) error {
		if !now.Task.IsDelegate() {
			return nil
		}
		return &refusal.RefusedError{Code: refusal.WrongState, Message: s.e.place.Branch + " is a part of another task and no attempt at one", Remedy: "ferrus branches lists the branches", Person: true}
	}})
}
