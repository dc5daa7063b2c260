package conductor

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// An Event is something that a watcher of the run gets to know.
type Event struct {
	At    time.Time    `json:"at"`
	Kind  EventKind    `json:"kind"`
	State state.State  `json:"state,omitempty"`
	Duty  agents.Duty  `json:"duty,omitempty"`
	Agent string       `json:"agent,omitempty"`
	Run   string       `json:"run,omitempty"`
	Text  string       `json:"text,omitempty"`
	Until time.Time    `json:"until,omitzero"`
	Why   string       `json:"why,omitempty"` // of Started: what becomes of an earlier session, if agents continue theirs
	Ended *process.Run `json:"ended,omitempty"`

	Sandbox string `json:"sandbox,omitempty"` // of Started and Found: the mechanism that keeps the agent in; of Trying, the checks
	Outside string `json:"outside,omitempty"` // of Started: why an agent that can have a sandbox has none
}

// An EventKind says what an Event is about.
type EventKind string

const (
	Moved      EventKind = "state"      // the task is in another state
	Found      EventKind = "found"      // an agent was at work already when the conductor came
	Trying     EventKind = "trying"     // the checks run in their sandbox for the first time, before an agent starts
	Confirming EventKind = "confirming" // the checks run on this computer too, before a reviewer starts
	FellBack   EventKind = "fallback"   // another agent of its list works for a duty from now on
	Started    EventKind = "started"    // an agent
	Ending     EventKind = "ending"     // the conductor ends an agent
	Ended      EventKind = "ended"      // an agent
	Parked     EventKind = "parked"     // nothing is started until a time
	Asked      EventKind = "question"   // a person is waited for
	Late       EventKind = "until"      // Options.Until has passed: nothing more is started
	Stopping   EventKind = "stopping"   // the conductor was told to stop
)

// A View is the present state of the run, for display.
type View struct {
	Facts
	Act    Act
	Agents []AgentView // the live agents
}

// An AgentView is a live agent.
type AgentView struct {
	Run   process.Run
	Doing string
}

func (c *conductor) say(e Event) {
	e.At = c.Now().UTC().Truncate(time.Millisecond)
	c.Tell(e)
}

// toldAs names a run among those of all computers.
func toldAs(r process.Run) string { return r.Node + " " + r.Name }

// tell reports what has happened since the last call.
func (c *conductor) tell(f Facts, first bool) {
	for _, r := range f.Runs {
		open, closed := toldAs(r), toldAs(r)+" ended"
		switch {
		case first && r.Over():
			c.reported[open], c.reported[closed] = true, true
		case !c.reported[open]:
			c.reported[open] = true
			kind := Started
			if first {
				kind = Found
			}
			c.say(Event{Kind: kind, Duty: r.Duty, Agent: r.Agent, Run: r.Name, Text: r.Log, Sandbox: r.Sandbox})
		}
		if r.Over() && !c.reported[closed] {
			c.reported[closed] = true
			if r.Node == "" {
				delete(c.tails, r.Name)
			}
			c.say(Event{Kind: Ended, Duty: r.Duty, Agent: r.Agent, Run: r.Name, Ended: &r})
		}
	}
	t := f.Task
	if first || t.State != c.was.Task.State || t.TaskID != c.was.Task.TaskID {
		text := cmp.Or(c.setback(f.Snapshot), t.Title)
		if t.State == state.Reviewing && t.Submission.Empty() {
			text = t.Submission.ID + " changes no file: " + text
		}
		c.say(Event{Kind: Moved, State: t.State, Text: text})
	}
	asked := t.State == state.AwaitingHuman && (first || c.was.Task.State != state.AwaitingHuman || c.was.Task.Top().ID != t.Top().ID)
	c.was = f.Snapshot
	if f.Until.Passed(f.Now) && !c.late {
		c.late = true
		c.say(Event{Kind: Late, Until: f.Until.End()})
	}
	if asked {
		text, err := store.Text(c.e.Store(), f.Snapshot, state.QuestionDoc)
		if err != nil {
			c.Log.Warn("question not read", "error", err)
		}
		c.say(Event{Kind: Asked, State: t.State, Agent: t.Top().By, Run: t.Top().ID, Text: text})
		c.notify(f)
	}
}

// show displays the state of the run, with the agents' output that gather has read.
func (c *conductor) show(f Facts, act Act) {
	v := View{Facts: f, Act: act}
	for _, r := range f.Runs {
		if !r.Over() {
			v.Agents = append(v.Agents, AgentView{Run: r, Doing: c.tails[r.Name].Doing})
		}
	}
	c.Show(v)
}

// setback says why the task went back to Addressing: the check that failed, or the review. It is "" in any other state.
func (c *conductor) setback(now store.Snapshot) string {
	if now.Task.State != state.Addressing || now.Top == nil {
		return ""
	}
	switch now.Top.Event {
	case state.CheckFailed:
		last, err := c.e.LastCheckOf(now)
		if err != nil || last == nil || len(last.Failures) == 0 {
			return ""
		}
		first := last.Failures[0]
		tail := strings.Split(strings.TrimSpace(first.Tail), "\n")
		return fmt.Sprintf("%s: %s: %s", first.Line, first, tail[len(tail)-1])
	case state.Reject:
		return "rejected: " + now.Top.Docs[state.ReviewDoc]
	}
	return ""
}
