package state

import (
	"fmt"
	"slices"
	"strings"
)

// A Budget names a kind of failure that is counted and limited in each task.
type Budget string

const (
	CheckRetries Budget = "check_retries"
	ReviewCycles Budget = "review_cycles"
)

// Limits are the sizes of the budgets. With a limit of 3 the third failure ends the task.
type Limits struct {
	CheckRetries int // limits.max_check_retries
	ReviewCycles int // limits.max_review_cycles
}

// A RefusedError says that the table has no such move.
type RefusedError struct {
	Event   Event
	Role    Role
	State   State
	Allowed []Event // what the role may do now, in the order of Events
}

func (e *RefusedError) Error() string {
	var can []string
	for _, ev := range e.Allowed {
		can = append(can, string(ev))
	}
	if len(can) == 0 {
		can = []string{"nothing"}
	}
	return fmt.Sprintf("%s cannot %s while the task is in %s; allowed now: %s", e.Role.Public(), e.Event, e.State,
		strings.Join(can, ", "))
}

// Forbidden reports whether the role may not raise the event in any state. An executor counts as
// one that could have the claim.
func (e *RefusedError) Forbidden() bool {
	return !May(e.Role, e.Event) && !(e.Role == Executor && May(Holder, e.Event))
}

// Step returns the task after the event. The table alone decides what may happen; Step is pure and
// does not change t. It returns a *RefusedError when the table has no such move. When a pause has
// no state to return to, which is a bug, it returns another error.
//
// Step changes the state and the counters. The caller adds the facts of the event to the result:
// ids, documents, the new claim.
func Step(t Task, ev Event, by Role, lim Limits) (Task, error) {
	m, ok := table[t.State][ev]
	if !ok || !m.open(t, by) {
		return t, &RefusedError{Event: ev, Role: by, State: t.State, Allowed: Allowed(t, by)}
	}
	next := t.Clone()
	for _, o := range m.do {
		o.apply(&next)
	}
	if err := next.move(m.then, ev); err != nil {
		return t, err
	}
	next.charge(m.spend, lim)
	if holderless[next.State] {
		dropLease.apply(&next)
	}
	if next.State.Over() {
		next.endDelegates(DelegateCancelled)
	}
	return next, nil
}

func (t *Task) move(to target, ev Event) error {
	switch to.verb {
	case "go":
		t.State, t.Paused = to.to, nil
	case "pause":
		t.Paused = append(t.Paused, Pause{Kind: ev, State: t.State})
		t.State = to.to
	case "back":
		if len(t.Paused) == 0 {
			return fmt.Errorf("%s in %s has no pause to return from: run ferrus doctor", ev, t.State)
		}
		t.State = t.PausedFrom()
		t.Paused = t.Paused[:len(t.Paused)-1]
	}
	return nil
}

// charge counts one unit of b, and fails the task when the last one is used.
func (t *Task) charge(b Budget, lim Limits) {
	var used *int
	var limit int
	var what, row, key string
	switch b {
	case CheckRetries:
		used, limit, what, row, key = &t.CheckRetries, lim.CheckRetries, "checks failed", " in a row", "limits.max_check_retries"
	case ReviewCycles:
		used, limit, what, key = &t.ReviewCycles, lim.ReviewCycles, "the review rejected the work", "limits.max_review_cycles"
	default:
		return
	}
	*used++
	if *used >= limit {
		if *used > 1 {
			what += fmt.Sprintf(" %d times%s", *used, row)
		}
		t.State = Failed
		t.FailureReason = fmt.Sprintf("%s; %s is %d", what, key, limit)
	}
}

// Allowed returns the events that role may raise in the present state of the task, in the order of
// Events. For Holder it returns what the executor that has the claim may do.
func Allowed(t Task, by Role) []Event {
	var can []Event
	for _, ev := range Events() {
		if m, ok := table[t.State][ev]; ok && m.open(t, by) {
			can = append(can, ev)
		}
	}
	return can
}

// May reports whether role may raise ev in at least one state.
func May(by Role, ev Event) bool {
	for _, row := range table {
		if m, ok := row[ev]; ok && slices.Contains(m.by, by) {
			return true
		}
	}
	return false
}
