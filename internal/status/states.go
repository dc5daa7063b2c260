package status

import (
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
