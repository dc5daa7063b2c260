package stack

import (
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// An Entry is one entry of a stack.
type Entry struct {
	N       int       `json:"n"` // from 1
	Kind    Kind      `json:"kind"`
	At      time.Time `json:"at"`
	Approx  bool      `json:"approx,omitempty"` // no record says when: not before At
	Agent   string    `json:"agent"`            // role:name:index
	Run     string    `json:"run,omitempty"`
	Task    string    `json:"task,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Args    string    `json:"args,omitempty"` // digest of the arguments
	Text    string    `json:"text,omitempty"`
	Status  string    `json:"status,omitempty"` // of the result of a tool of ours
	Code    string    `json:"code,omitempty"`   // of a refusal, or error
	Events  []Event   `json:"events,omitempty"` // that the call has added to the journal
	Via     string    `json:"via,omitempty"`    // llm or rule: what decided a message of the agent
	Implied bool      `json:"implied,omitempty"`
	Illegal string    `json:"illegal,omitempty"` // why it must not stand here
}

// An Event is an entry of the journal.
type Event struct {
	Seq   uint64 `json:"seq"`
	Event string `json:"event"`
	From  string `json:"from"`
	To    string `json:"to"`

	at   time.Time
	task string
}

// Facts are the records of one run of an agent, or of all that it did without one.
type Facts struct {
	Name  string // of the run, with its task or pipeline; "" without one
	Agent string // role:name:index
	Duty  string
	Run   string // the name in its record
	Task  string // id of the task, or name of the pipeline's run

	Began, Ended time.Time // zero for what is not known
	Told         string    // what it was started with
	End          string    // how it ended
	Command      string    // of a worker that is a command; "" for an agent
	Done         bool      // it has handed in its work, whatever tools it called

	Calls  []gate.LoggedCall
	Notes  []agents.Note
	Events []Event // of its own
	Heard  []Entry // what others told it: UserMessage, AgentResult, UserResponse

	read func() ([]agents.Note, error)
}

// slack is how much earlier than in a log a moment may be in the journal, which has milliseconds.
const slack = time.Millisecond

// late is how much later than its answer an older server may have written the line of a call, which
// says only how long the call took.
const late = 50 * time.Millisecond

// during reports whether a moment is in the time of the run.
func (f *Facts) during(at time.Time) bool {
	return !at.Before(f.Began.Add(-slack)) && (f.Ended.IsZero() || !at.After(f.Ended.Add(time.Second)))
}

// ErrCalls means that a worker that is a command has called tools, which it does not have.
var ErrCalls = errors.New("the worker is a command and has no tools")

// Join pushes the entries of one run onto a stack. Only a command can make it fail: its steps are
// ours, so that an entry in the wrong place is refused. The entries of an agent are marked instead.
func (s *Stack) Join(f Facts) error {
	if f.Command != "" {
		return s.command(f)
	}
	if f.Run != "" {
		s.Observe(f.entry(UserMessage, f.Began, f.Told))
	}
	s.handedIn = s.handedIn || f.Done
	w := waits{}
	for _, e := range f.order() {
		if e, ok := w.next(e); ok {
			s.Observe(e)
		}
	}
	if !f.Ended.IsZero() {
		s.Observe(f.entry(Finished, f.Ended, f.End))
	}
	return nil
}

// command pushes the steps of a worker that is a command: the workflow decides, not a model.
func (s *Stack) command(f Facts) error {
	if len(f.Calls) > 0 {
		return fmt.Errorf("%s: %s: %w", f.Name, f.Calls[0].Tool, ErrCalls)
	}
	decides := f.entry(AssistantMessage, f.Began, "the workflow names a command")
	decides.Via = "rule"
	runs := f.entry(ToolCall, f.Began, f.Command)
	runs.Tool = "run"
	steps := []Entry{f.entry(UserMessage, f.Began, f.Told), decides, runs}
	if !f.Ended.IsZero() {
		end := f.entry(Finished, f.Ended, f.End)
		end.Tool = "run"
		steps = append(steps, end)
	}
	for _, e := range steps {
		if err := s.Push(e); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func (f *Facts) entry(k Kind, at time.Time, text string) Entry {
	return Entry{Kind: k, At: at, Agent: f.Agent, Run: f.Run, Task: f.Task, Text: text, Via: viaOf(k)}
}

// A request is a tool that makes the agent wait for somebody.
type request struct {
	asks, answers Kind
	wait          string // the tool that waits
}

var requests = map[string]request{
	"consult":   {AgentCall, AgentResult, "wait_for_consult"},
	"ask_human": {UserRequest, UserResponse, "wait_for_answer"},
}

// waits turns the calls that ask and wait into requests and responses.
type waits struct {
	open  request // that is unanswered
	fetch string  // the tool that returns an answer which came before the agent waited for it
	fold  bool    // the next result is that of a call that only waits
}

// next returns the entry that stands for e, and whether there is one. A call that waits for an open
// request is no step: the request is still on top. Nor is one that returns an answer which is already
// on the stack.
func (w *waits) next(e Entry) (Entry, bool) {
	r, asks := requests[e.Tool]
	switch {
	case e.Kind == AgentResult || e.Kind == UserResponse:
		if e.Kind != w.open.answers {
			return e, false
		}
		if !w.fold {
			w.fetch = w.open.wait
		}
		w.open = request{}
	case e.Kind == ToolCall && e.Tool != "" && (e.Tool == w.open.wait || e.Tool == w.fetch):
		w.fold, w.fetch = true, ""
		return e, false
	case e.Kind == ToolResult && w.fold && isWait(e.Tool):
		w.fold = false
		return e, false
	case e.Kind == ToolResult && asks && e.Code == "":
		e.Kind, w.open, w.fetch = r.asks, r, ""
	}
	return e, true
}

func isWait(tool string) bool {
	for _, r := range requests {
		if tool == r.wait {
			return true
		}
	}
	return false
}
