package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/live"
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
	return notClaimed(now.Task.ClaimedBy, live.IsSession(s.ID))
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

// explain turns a lossError into the refusal that says who took the work, when, and why; other errors stay as they are.
// It reads the journal: it is not called under the store's lock.
func (s *Session) explain(err error) error {
	var lost lossError
	if !errors.As(err, &lost) {
		return err
	}
	l, err := s.e.store.First(func(l *store.Line) bool { return l.Epoch > lost.epoch }) // the epoch never goes down
	if err != nil {
		l = nil
	}
	return leaseLost(l)
}
