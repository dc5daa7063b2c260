package rules

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A Trigger is an event that a rule may follow, and where the task may be after it.
type Trigger struct {
	Event state.Event
	In    []state.State // after the event, as far as the task goes on
	Means string
}

// Triggers are the events of rules, in the order of the documentation.
var triggers = []Trigger{
	{state.CheckFailed, []state.State{state.Addressing}, "the checks failed"},
	{state.CheckVoid, []state.State{state.Executing, state.Addressing, state.Checking}, "the checks ended without a verdict"},
	{state.Reject, []state.State{state.Addressing}, "the reviewer rejected the work"},
	{state.Submit, []state.State{state.Reviewing}, "the executor handed the work in"},
}

// A condition is a number of When.
type condition struct {
	Key   string
	On    state.Event // the only event that it is counted for
	Means string
	value func(*When) *int
	fact  func(Facts) int
	below func(Limits) (int, string) // the number at which a default comes first or the task fails, in words
}

var conditions = []condition{
	{"same", state.CheckFailed, "failed checks in a row with the same failure",
		func(w *When) *int { return &w.Same }, func(f Facts) int { return f.Same },
		func(l Limits) (int, string) { return l.SameFailure, "ferrus asks a person (limits.max_same_failure)" }},
	{"failed", state.CheckFailed, "failed checks since the last passed one or review",
		func(w *When) *int { return &w.Failed }, func(f Facts) int { return f.Failed },
		func(l Limits) (int, string) { return l.CheckRetries, "the task fails (limits.max_check_retries)" }},
	{"errors", state.CheckVoid, "times in a row that the checks could not be run",
		func(w *When) *int { return &w.Errors }, func(f Facts) int { return f.Errors },
		func(Limits) (int, string) { return GateErrors, "ferrus asks a person" }},
	{"moved", state.CheckVoid, "checks in a row during which the same files changed or new ones came",
		func(w *When) *int { return &w.Moved }, func(f Facts) int { return f.Moved },
		func(Limits) (int, string) { return SameMoved, "ferrus asks a person" }},
	{"cycles", state.Reject, "rejections of the task",
		func(w *When) *int { return &w.Cycles }, func(f Facts) int { return f.Cycles },
		func(l Limits) (int, string) { return l.ReviewCycles, "the task fails (limits.max_review_cycles)" }},
}

// pathsKey is the condition that is no number; it is counted for Submit.
const pathsKey = "paths"

// actions are the events that the actions raise.
var actions = map[string]state.Event{
	Consult:  state.Consult,
	AskHuman: state.AskHuman,
	Approve:  state.Approve,
	Executor: state.Reassign,
}

// acts are the actions in the order of the documentation.
var acts = []struct{ Word, Means string }{
	{Consult, "ask the supervisor what to do; the executor continues with the answer"},
	{AskHuman, "ask a person; the task waits for the answer"},
	{Approve, "complete the task without a review; needs `paths`, passed checks and unchanged files"},
	{Executor + " AGENT[:MODEL]", "take the work away from the executor and give it to this one"},
}

// possible reports whether the engine may take the action in every state that the event leads to.
func possible(on Trigger, act state.Event) bool {
	for _, s := range on.In {
		open := false
		for _, ev := range state.Allowed(state.Task{State: s}, state.Engine) {
			open = open || ev == act
		}
		if !open {
			return false
		}
	}
	return true
}

// after returns the actions that are possible after an event.
func after(on Trigger) (words []string) {
	for _, a := range acts {
		word, _, _ := strings.Cut(a.Word, " ")
		if possible(on, actions[word]) {
			words = append(words, word)
		}
	}
	return words
}

// Markdown returns the tables of the language for the reference page.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| `on` | after | `then` may be |\n|---|---|---|\n")
	for _, t := range triggers {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Event, t.Means, "`"+strings.Join(after(t), "`, `")+"`")
	}
	b.WriteString("\n| `when` | with `on` | met |\n|---|---|---|\n")
	for _, c := range conditions {
		fmt.Fprintf(&b, "| `%s = N` | `%s` | from N %s on |\n", c.Key, c.On, c.Means)
	}
	fmt.Fprintf(&b, "| `paths = [...]` | `%s` | if every changed file matches one of the patterns |\n", state.Submit)
	b.WriteString("\n| `then` | what ferrus does |\n|---|---|\n")
	for _, a := range acts {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Word, a.Means)
	}
	return b.String()
}
