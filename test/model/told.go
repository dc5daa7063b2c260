package model

import (
	"encoding/json"
	"strings"
)

// Told is what a tool of ferrus told the model, as far as models need it.
type Told struct {
	Tool   string // that was called, without its server
	Status string
	State  string // of the task
	Code   string // of a refusal
	Next   string // the tool to call next, stop, or choose

	Message, Remedy              string
	TaskID                       string `json:"task_id"`
	Title, Task, Review          string
	Worktree, Patch              string
	SubmissionID                 string `json:"submission_id"`
	ConsultationID               string `json:"consultation_id"`
	Consultation, Response       string
	Answer                       string
	ReviewCyclesUsed             int `json:"review_cycles_used"`
	Epoch                        int
	Decisions                    []struct{ ID, Question, Answer string }
	Consultations, Progress      []json.RawMessage
	Messages                     []struct{ From, Text string }
	Delegates                    []Delegated
	Claim, ClaimedBy, Submission string
}

// A Delegated is a delegate of the task, as the tools tell of it.
type Delegated struct{ ID, Branch, Status string }

// ours is what every client calls the server of ferrus, with what stands between it and a tool.
const ours = "ferrus/"

// Told returns what the tools of ferrus told in this conversation, in order. A result that is none of theirs, such as
// that the server is gone, has no Next.
func (r Request) Told() []Told {
	var all []Told
	for _, c := range r.Calls() {
		if name, ok := strings.CutPrefix(c.Tool, ours); ok {
			all = append(all, told(name, c.Result))
		}
	}
	return all
}

func told(tool string, r *Result) Told {
	t := Told{}
	if json.Unmarshal(r.JSON, &t) != nil {
		t = Told{Message: r.Text}
	}
	t.Tool = tool
	return t
}

// Last returns the newest of Told; false when there is none.
func (r Request) Last() (Told, bool) {
	all := r.Told()
	if len(all) == 0 {
		return Told{}, false
	}
	return all[len(all)-1], true
}

// Since returns the calls of the client's own tools since the last one of ferrus.
func (r Request) Since() []Call {
	var own []Call
	for _, c := range r.Calls() {
		if strings.HasPrefix(c.Tool, ours) {
			own = nil
			continue
		}
		own = append(own, c)
	}
	return own
}

// Executor reports whether the client has the tools of an executor.
func (r Request) Executor() bool { return r.Offers(ours + "wait_for_task") }

// Supervisor reports whether the client has the tools of a supervisor.
func (r Request) Supervisor() bool { return r.Offers(ours + "wait_for_review") }
