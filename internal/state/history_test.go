package state

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A move by its place in the table.
type cell struct {
	in State
	ev Event
}

// TestAnyHistory draws histories from the legal acts, with a stray act now and then, and holds each step to what must
// be true of any. Drawn blindly most acts would be refused and the deep states hardly seen; so it goes on until over all
// histories each of the moves has been made (the few of a short run may miss one), and fails if that does not come about.
// From wherever they came there must be a way to Complete.
func TestAnyHistory(t *testing.T) {
	made := map[cell]bool{}
	reached := map[Limits]map[place]bool{}
	for range 20 { // rarely more than once
		rapid.Check(t, func(rt *rapid.T) {
			lim := Limits{rapid.IntRange(1, 3).Draw(rt, "checks"), rapid.IntRange(1, 3).Draw(rt, "reviews")}
			if reached[lim] == nil {
				reached[lim] = map[place]bool{}
			}
			h := history{T: rt, task: New(), lim: lim}
			for range 250 {
				a := h.draw()
				in := h.task.State
				if h.takes(a) {
					made[cell{in, a.ev}] = true
					reached[lim][placeOf(h.task)] = true
				}
			}
		})
		if testing.Short() || len(unmade(made)) == 0 {
			break
		}
	}
	if list := unmade(made); len(list) > 0 && !testing.Short() {
		t.Errorf("no history made %v", list)
	}
	for lim, places := range reached {
		all := explore(t, lim)
		for p := range places {
			if all[p] == nil || !all[p].ends {
				t.Errorf("no way to Complete from %+v with %+v", p, lim)
			}
		}
	}
}

// unmade are the moves of the table that are not among made.
func unmade(made map[cell]bool) (list []cell) {
	for in, row := range table {
		for ev := range row {
			if !made[cell{in, ev}] {
				list = append(list, cell{in, ev})
			}
		}
	}
	return list
}

// A history is a task under way, and beside it what the test remembers of the road: where each open pause came from.
type history struct {
	*rapid.T
	task   Task
	lim    Limits
	paused []State
}

func (h *history) draw() act {
	if rapid.IntRange(0, 9).Draw(h.T, "stray") == 9 {
		by := rapid.SampledFrom(Roles()).Draw(h.T, "by")
		if by == Holder && h.task.ClaimedBy == "" {
			by = Executor // of whatever name, it holds nothing
		}
		return act{by, rapid.SampledFrom(Events()).Draw(h.T, "event")}
	}
	acts := legal(h.task)
	slices.SortFunc(acts, func(a, b act) int { return wayOn(b) - wayOn(a) })
	return rapid.SampledFrom(acts).Draw(h.T, "act")
}

// wayOn ranks what leads towards the end of a task before what stays or goes astray, and that before what starts over.
// rapid prefers the front of a list, and the last states are long to reach.
func wayOn(a act) int {
	switch a.ev {
	case CheckPassed, Submit, Approve, RespondConsult, TakeResponse, Answer:
		return 2
	case Reset, RollbackBegun, Rollback, Repair, Violation, AcceptConfig, Release:
		return 0
	}
	return 1
}

// takes makes one step and reports whether it was let through.
func (h *history) takes(a act) bool {
	before, was := h.task, h.task.Clone()
	next, err := does(before, a, h.lim)
	if !reflect.DeepEqual(before, was) {
		h.Fatalf("%s changed the task that it was given:\n%s", a, cmp.Diff(was, before))
	}
	if err != nil {
		if !errors.As(err, new(*RefusedError)) {
			h.Fatalf("%s in %s: %v", a, before.State, err)
		}
		if !reflect.DeepEqual(next, was) {
			h.Fatalf("%s was refused and changed the task:\n%s", a, cmp.Diff(was, next))
		}
		return false
	}
	h.follow(before, a, next)
	h.holds(before, a, next)
	h.task = next
	return true
}

// follow keeps the test's own stack of pauses.
func (h *history) follow(before Task, a act, next Task) {
	switch a.ev {
	case Consult, AskHuman:
		h.paused = append(h.paused, before.State)
	case TakeResponse, Answer:
		from := h.paused[len(h.paused)-1]
		h.paused = h.paused[:len(h.paused)-1]
		if next.State != from {
			h.Fatalf("%s leads to %s, the pause came from %s", a, next.State, from)
		}
	case Reset, Merge:
		h.paused = nil
	}
	var stack []State
	for _, p := range next.Paused {
		stack = append(stack, p.State)
	}
	if !slices.Equal(stack, h.paused) {
		h.Fatalf("after %s the pauses are %v, want %v", a, stack, h.paused)
	}
}

// holds checks what is true of every task after every step.
func (h *history) holds(before Task, a act, next Task) {
	nobody := slices.Contains([]State{Idle, Reviewing, Complete, Failed}, next.State)
	waits := next.State == Consultation || next.State == AwaitingHuman
	fenced := slices.Contains([]Event{Claim, Release, Reassign, RollbackBegun, Rollback, Branch, MergeBegun, Merge, Reset}, a.ev)
	rise := next.Epoch - before.Epoch
	for _, p := range []struct {
		promise string
		kept    bool
	}{
		{"the epoch goes up by one when the holder changes, and never otherwise", fenced && rise == 1 || !fenced && rise == 0},
		{"no check runs on into another epoch", rise == 0 || next.Check.Status != CheckRunning},
		{"where nobody works nobody holds the work", !nobody || next.ClaimedBy == "" && next.Session == ""},
		{"a task is paused where it waits, and only there", waits == (len(next.Paused) > 0)},
		{"at most a question stands on a consultation", len(next.Paused) <= 2},
		{"no budget is overdrawn", next.CheckRetries <= h.lim.CheckRetries && next.ReviewCycles <= h.lim.ReviewCycles},
		{"a spent budget ends the task", next.State == Failed ==
			(next.CheckRetries == h.lim.CheckRetries || next.ReviewCycles == h.lim.ReviewCycles)},
		{"a failed task says why, and no other does", (next.State == Failed) == (next.FailureReason != "")},
	} {
		if !p.kept {
			h.Fatalf("%s in %s breaks: %s\n%s", a, before.State, p.promise, cmp.Diff(before, next))
		}
	}
}
