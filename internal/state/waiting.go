package state

import "time"

// Waiting says for whom a task waits, and since when: no wait is silent.
type Waiting struct {
	For   string    `json:"for"` // executor, supervisor, human, check or nobody
	Since time.Time `json:"since,omitzero"`
}

// waitsFor says who acts next in each state.
var waitsFor = map[State]string{
	Idle:          "nobody",
	Executing:     "executor",
	Checking:      "executor",
	Addressing:    "executor",
	Consultation:  "supervisor",
	Reviewing:     "supervisor",
	AwaitingHuman: "human",
	Complete:      "nobody",
	Failed:        "nobody",
}

// WaitingFor says for whom a task waits. A state that it does not know waits for a person.
func WaitingFor(t Task) Waiting {
	who, known := waitsFor[t.State]
	switch {
	case t.Returning.Of != "": // to finish that move; the engine does it for one that has ended
	case t.Returning != (FileMove{}): // to finish the move of the files
		return Waiting{For: "human", Since: t.UpdatedAt}
	case !known:
		who = "human"
	case t.State.InHand() && t.Check.Status == CheckRunning:
		return Waiting{For: "check", Since: t.UpdatedAt}
	case t.State == Consultation && t.Consultation.Answered:
		who = "executor"
	}
	return Waiting{For: who, Since: t.Since}
}
