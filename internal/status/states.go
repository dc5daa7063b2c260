package status

import (
	"cmp"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
)

// meaning says of each state what it means, in sentences.
var meaning = map[state.State]string{
	state.Idle:          "There is no task.",
	state.Executing:     "The executor works on the task.",
	state.Checking:      "The checks passed. The executor can submit this work.",
	state.Addressing:    "A check failed or a review rejected the work. The executor fixes it.",
	state.Consultation:  "The executor asked the supervisor a question.",
	state.AwaitingHuman: "An agent or ferrus asked you a question.",
	state.Reviewing:     "The executor submitted its work for review.",
	state.Complete:      "The work was approved.",
	state.Failed:        "A limit was reached. You can reopen the task or reset it.",
}

// stateWords say in a few words what a task in a state does. They name nobody: a delegate asks the executor of its task.
var stateWords = map[state.State]string{
	state.Idle:          "no task",
	state.Executing:     "writes",
	state.Checking:      "checks passed",
	state.Addressing:    "fixes what failed",
	state.Consultation:  "asks for advice",
	state.AwaitingHuman: "waits for an answer",
	state.Reviewing:     "in review",
	state.Complete:      "approved",
	state.Failed:        "failed",
}

// StateWords says in a few words for people what a task in a state does; the name of a state that it does not know.
func StateWords(s state.State) string { return cmp.Or(stateWords[s], format.Line(string(s))) }

// waiting says for whom a task waits, by the names of state.Waiting.
var waiting = map[string]string{"executor": "the executor", "supervisor": "the supervisor, or you", "human": "you"}

// AboutState says what a state means, and who is waited for in it. It is empty for a state that it does not know.
func AboutState(s state.State) string {
	text, known := meaning[s]
	if !known {
		return ""
	}
	if who := waiting[state.WaitingFor(state.Task{State: s}).For]; who != "" {
		text += " Waits for " + who + "."
	}
	return text
}

// steps are the way of a task, with what is done at each of them in a word.
var steps = map[state.State]struct {
	n    int
	does string
}{
	state.Executing: {1, "writes"}, state.Addressing: {1, "fixes"}, state.Consultation: {1, "asks"}, state.Checking: {2, "checks"}, state.Reviewing: {3, "review"}, state.Complete: {4, "merge"},
}

// Steps is how many steps a task has: it is written, checked, reviewed and merged.
const Steps = 4

// Step says at which step the task is, from 1, and what is done there; 0 where it is at none.
func (m Machine) Step() (n int, does string) {
	s := steps[m.State]
	if m.Waiting.For == "check" {
		s = steps[state.Checking]
	}
	return s.n, s.does
}
