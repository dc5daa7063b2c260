package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A lossError refuses a session that has lost the work which it held under the epoch. It does not say who took the work:
// that is in the journal, which is not read under the store's lock. Session.explain adds it.
type lossError struct{ epoch uint64 }

func (l lossError) Error() string { return fmt.Sprintf("the lease of epoch %d is lost", l.epoch) }

// checkHolder refuses an executor's act that only the holder may do: not_claimed to a session that never held the work,
// a lossError to one that did. It reads no file. What nobody could do in this state is left to the table.
func (s *Session) checkHolder(now store.Snapshot, ev state.Event) error {
	if s.Role != state.Executor || ev == state.Claim || s.Holds(now.Task) {
		return nil
	}
	if err := s.checkEpoch(now); err != nil {
		return err
	}
	if !slices.Contains(state.Allowed(now.Task, state.Holder), ev) {
		return nil
	}
	return s.notClaimed(now)
}

// checkEpoch is a lossError for a session that has lost the work since it claimed it.
func (s *Session) checkEpoch(now store.Snapshot) error {
	s.mu.Lock()
	held := s.epoch
	s.mu.Unlock()
	if held != 0 && now.Task.Epoch > held {
		return lossError{held}
	}
	return nil
}

// verifyClaim is checkHolder with the whole explanation. It reads the journal: it is not called under the store's lock.
func (s *Session) verifyClaim(now store.Snapshot, ev state.Event) error {
	return s.explain(s.checkHolder(now, ev))
}

// notClaimed says who holds the work instead.
func (s *Session) notClaimed(now store.Snapshot) error {
	who := "no agent has claimed it now"
	if now.Task.ClaimedBy != "" {
		who = "it is claimed by " + now.Task.ClaimedBy
	}
	if remote(s.ID) {
		return &refusal.RefusedError{Code: refusal.NotClaimed, Message: "this call does not name the claim of the work; " + who,
			Remedy: "name the claim that wait_for_task gave you, or call it to get one"}
	}
	return &refusal.RefusedError{Code: refusal.NotClaimed, Message: "this session has not claimed the work; " + who,
		Remedy: "call wait_for_task first"}
}

// explain turns a lossError into the refusal that says who took the work, when, and why; other errors stay as they are.
// It reads the journal: it is not called under the store's lock.
func (s *Session) explain(err error) error {
	var lost lossError
	if !errors.As(err, &lost) {
		return err
	}
	how := "the lease was taken away"
	l, err := s.e.store.First(func(l *store.Line) bool { return l.Epoch > lost.epoch }) // the epoch never goes down
	if err == nil && l != nil {
		at := l.At.Local().Format(time.TimeOnly)
		switch l.Event {
		case state.Claim:
			how = fmt.Sprintf("%s took this work over at %s because %s", l.State.ClaimedBy, at, cmp.Or(l.Note, "no agent had claimed it"))
		case state.Reset:
			how = "a person reset the task at " + at
		case state.Release:
			how = "a person released the work at " + at
		case state.RollbackBegun, state.Rollback:
			how = fmt.Sprintf("a person rolled the task back to entry %d at %s", l.Back, at)
		}
	}
	return &refusal.RefusedError{Code: refusal.LeaseLost, Message: how + ". Stop, and do not edit further",
		Remedy: "call wait_for_task to wait for new work"}
}
