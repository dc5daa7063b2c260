package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An act is an event and on whose behalf it is raised.
type act struct {
	by Role
	ev Event
}

func (a act) String() string { return fmt.Sprintf("%s %s", a.by, a.ev) }

// does is a step with what the engine lays over it.
func does(t Task, a act, lim Limits) (Task, error) {
	next, err := Step(t, a.ev, a.by, lim)
	if err != nil {
		return next, err
	}
	switch a.ev {
	case CreateTask:
		next.TaskID = "t-20260102-030405-abcd"
	case Claim:
		next.ClaimedBy, next.Session = "executor:codex:1", "7d"
	case CheckStarted:
		next.Check = Check{ID: "k1", Status: CheckRunning}
	case CheckPassed:
		next.Check.Status = CheckGreen
	case CheckFailed:
		next.Check.Status = CheckRed
	case CheckVoid:
		next.Check.Status = CheckGateError
	case DelegateStarted:
		next.SetDelegate(Delegate{ID: "d1", Branch: "d1"})
	case DelegateMergeStarted:
		next.Returning = FileMove{From: "d1", Of: "d1"}
	case DelegateDone:
		if len(next.OpenDelegates()) > 0 {
			next.SetDelegate(Delegate{ID: "d1", Branch: "d1", Ended: DelegateFailed})
		}
	case Consult, AskHuman:
		for i := range next.Paused[len(t.Paused):] {
			next.Paused[len(t.Paused)+i].By = string(a.by)
		}
	}
	return next, nil
}

// legal are the acts that the table lets through. There is a holder only where somebody holds the work.
func legal(t Task) []act {
	var acts []act
	for _, by := range Roles() {
		if by == Holder && t.ClaimedBy == "" {
			continue
		}
		for _, ev := range Allowed(t, by) {
			acts = append(acts, act{by, ev})
		}
	}
	return acts
}

// play plays a script from task on. A line is a role, an event and the state that it leads to, or "refused"; facts
// about the task after it may follow, as key=value.
func play(t *testing.T, task Task, lim Limits, script string) Task {
	t.Helper()
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		a, want := act{Role(words[0]), Event(words[1])}, words[2]
		if !slices.Contains(Roles(), a.by) || !slices.Contains(Events(), a.ev) || want != "refused" && !State(want).Known() {
			t.Fatalf("no line of a script: %s", line)
		}
		next, err := does(task, a, lim)
		if want == "refused" {
			if _, ok := err.(*RefusedError); !ok {
				t.Fatalf("%s in %s: got %s, %v; want a refusal", a, task.State, next.State, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", a, err)
		}
		if string(next.State) != want {
			t.Fatalf("%s in %s leads to %s, want %s", a, task.State, next.State, want)
		}
		for _, fact := range words[3:] {
			key, want, _ := strings.Cut(fact, "=")
			if got := tell(t, next, key); got != want {
				t.Fatalf("after %s: %s is %s, want %s", a, key, got, want)
			}
		}
		task = next
	}
	return task
}

// tell returns one fact of a task as a script spells it.
func tell(t *testing.T, task Task, key string) string {
	t.Helper()
	var v any
	switch key {
	case "check_retries":
		v = task.CheckRetries
	case "review_cycles":
		v = task.ReviewCycles
	case "epoch":
		v = task.Epoch
	case "paused":
		v = len(task.Paused)
	case "check":
		v = task.Check.Status
	case "holder":
		v = task.ClaimedBy
	case "failure":
		v = task.FailureReason != ""
	default:
		t.Fatalf("no fact is called %q", key)
	}
	return fmt.Sprint(v)
}

// roads lead from a fresh project into each state, with the work held where somebody can hold it.
var roads = map[State]string{
	Idle: ``,
	Executing: `
		supervisor create_task Executing
		executor claim Executing`,
	Checking: `
		supervisor create_task Executing
		executor claim Executing
		engine check_passed Checking`,
	Addressing: `
		supervisor create_task Executing
		executor claim Executing
		engine check_failed Addressing`,
	Consultation: `
		supervisor create_task Executing
		executor claim Executing
		holder consult Consultation`,
	AwaitingHuman: `
		supervisor create_task Executing
		executor claim Executing
		holder ask_human AwaitingHuman`,
	Reviewing: `
		supervisor create_task Executing
		executor claim Executing
		engine check_passed Checking
		holder submit Reviewing`,
	Complete: `
		supervisor create_task Executing
		executor claim Executing
		engine check_passed Checking
		holder submit Reviewing
		supervisor approve Complete`,
	Failed: `
		supervisor create_task Executing
		executor claim Executing
		engine check_failed Addressing
		engine check_failed Addressing
		engine check_failed Failed`,
}

var three = Limits{CheckRetries: 3, ReviewCycles: 3}

func in(t *testing.T, s State) Task {
	t.Helper()
	return play(t, New(), three, roads[s])
}

// A fataler is any test: of a table, of a property, of a fuzzed input.
type fataler interface{ Fatalf(string, ...any) }

func encode(t fataler, task Task) string {
	data, err := json.Marshal(task)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(data)
}
