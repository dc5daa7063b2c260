package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// standing refuses an executor's act that only the holder may do: not_claimed to a session that never held the work,
// lease_lost to one that did. What nobody could do in this state is left to the table.
func (s *Session) standing(now store.Snapshot, ev state.Event) error {
	if s.Role != state.Executor || ev == state.Claim || s.Holds(now.Task) {
		return nil
	}
	s.mu.Lock()
	held := s.epoch
	s.mu.Unlock()
	if held != 0 && now.Task.Epoch > held {
		return s.lost(now, held)
	}
	if !slices.Contains(state.Allowed(now.Task, state.Holder), ev) {
		return nil
	}
	return s.notClaimed(now)
}

// notClaimed says who holds the work instead.
func (s *Session) notClaimed(now store.Snapshot) error {
	who := "nobody holds it now"
	if now.Task.ClaimedBy != "" {
		who = "it is held by " + now.Task.ClaimedBy
	}
	if remote(s.ID) {
		return &Refusal{Code: NotClaimed, Message: "this call does not name the claim of the work; " + who,
			Remedy: "name the claim that wait_for_task gave you, or call it to get one"}
	}
	return &Refusal{Code: NotClaimed, Message: "this session has not claimed the work; " + who,
		Remedy: "call wait_for_task first"}
}

// lost says who took the work from a session that held it under the epoch, when, and why.
func (s *Session) lost(now store.Snapshot, epoch uint64) error {
	how := "the lease was taken away"
	if l := s.e.loss(now, epoch); l != nil {
		at := l.At.Local().Format(time.TimeOnly)
		switch l.Event {
		case state.Claim:
			how = fmt.Sprintf("%s took this work over at %s because %s", l.State.ClaimedBy, at, cmp.Or(l.Note, "nobody held it"))
		case state.Reset:
			how = "a person reset the task at " + at
		case state.Release:
			how = "a person released the work at " + at
		case state.RollbackBegun, state.Rollback:
			how = fmt.Sprintf("a person rolled the task back to entry %d at %s", l.Back, at)
		}
	}
	return &Refusal{Code: LeaseLost, Message: how + ". Stop, and do not edit further",
		Remedy: "call wait_for_task to wait for new work"}
}

// loss is the event that ended an epoch, nil when it cannot be found. It is looked for in the present task first: a
// journal may be long, and who has lost its work may ask often.
func (e *Engine) loss(now store.Snapshot, epoch uint64) *store.Line {
	for _, from := range slices.Compact([]int64{now.Task.Docs[state.TaskDoc].Off, 0}) {
		for l, err := range e.store.HistoryFrom(from) {
			if err != nil || from > 0 && l.Off == from && l.Epoch > epoch {
				break // it was lost before
			}
			if l.Epoch > epoch {
				return l
			}
		}
	}
	return nil
}
