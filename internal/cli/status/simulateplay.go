package status

import (
	"errors"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// An Event is an event and the role that raises it.
type Event struct {
	Role  state.Role // as journals name it: the session that has claimed the task is an executor
	Event state.Event
}

// A Step is what became of an event.
type Step struct {
	Event         state.Event   `json:"event"`
	Role          state.Role    `json:"role"`
	From          state.State   `json:"from"`
	To            state.State   `json:"to"`
	CheckRetries  status.Budget `json:"check_retries"`
	Reviews       status.Budget `json:"reviews"`
	Waiting       string        `json:"waiting"` // for whom
	Epoch         uint64        `json:"epoch"`
	FailureReason string        `json:"failure_reason,omitempty"`
	Rule          string        `json:"rule,omitempty"`    // by which ferrus raises it; "" for an event that was given
	Refused       string        `json:"refused,omitempty"` // why; "" when it happened
	Allowed       []state.Event `json:"allowed,omitempty"` // of a refused one: what the role may do there
}

// Rules are the rules of a simulation, and the facts that only a work tree has.
type Rules struct {
	List     []rules.Rule
	Changed  []string // the files that a submission changes
	Executor string   // the one that has the work, AGENT or AGENT:MODEL
}

// Play raises the events one after the other, up to the first that is refused: the last step has the
// refusal. An executor is taken for the one that has claimed the task, if one has. After each event
// the first rule that matches raises another one; failures are alike, and submissions may be approved.
func Play(t state.Task, events []Event, lim state.Limits, with Rules) ([]Step, error) {
	var list []Step
	for _, ev := range events {
		by := ev.Role
		if by == state.Executor && t.ClaimedBy != "" && ev.Event != state.Claim {
			by = state.Holder
		}
		next, err := state.Step(t, ev.Event, by, lim)
		s := Step{Event: ev.Event, Role: ev.Role, From: t.State}
		var refused *state.RefusedError
		if errors.As(err, &refused) {
			s.Refused, _, _ = strings.Cut(refused.Error(), "; ")
			s.Allowed, next = refused.Allowed, t
		} else if err != nil {
			return list, err
		} else {
			addFacts(&next, ev.Event)
		}
		s.describe(next, lim)
		list = append(list, s)
		if s.Refused != "" {
			break
		}
		if s, ruled, ok := with.follow(ev.Event, next, lim); ok {
			list, next = append(list, s), ruled
		}
		t = next
	}
	return list, nil
}

// follow raises the event of the first rule that matches after another.
func (r *Rules) follow(ev state.Event, t state.Task, lim state.Limits) (Step, state.Task, bool) {
	f := rules.Of(ev, t)
	f.Paths, f.Approved, f.Executor = r.Changed, true, r.Executor
	rule, ok := rules.First(r.List, f)
	if !ok {
		return Step{}, t, false
	}
	next, err := state.Step(t, rule.Event(), state.Engine, lim)
	if err != nil {
		return Step{}, t, false // the task has failed
	}
	if agent, model := rule.Agent(); agent != "" {
		r.Executor = strings.TrimSuffix(agent+":"+model, ":")
	}
	s := Step{Event: rule.Event(), Role: state.Engine, From: t.State, Rule: rule.String()}
	s.describe(next, lim)
	return s, next, true
}

// describe adds what became of the task.
func (s *Step) describe(next state.Task, lim state.Limits) {
	s.To, s.Epoch, s.Waiting, s.FailureReason = next.State, next.Epoch, state.WaitingFor(next).For, next.FailureReason
	s.CheckRetries, s.Reviews = status.Budget{Used: next.CheckRetries, Max: lim.CheckRetries}, status.Budget{Used: next.ReviewCycles, Max: lim.ReviewCycles}
}

// somebody is the executor that has claimed the task in a simulation.
const somebody = "executor:simulated:1"

// addFacts adds to a task the facts of an event on which a later event may depend, as the engine does.
func addFacts(t *state.Task, ev state.Event) {
	switch ev {
	case state.Claim:
		t.ClaimedBy = somebody
	case state.DelegateStarted:
		t.Issued.Delegates++
		t.SetDelegate(state.Delegate{ID: "d" + strconv.Itoa(t.Issued.Delegates)})
	case state.DelegateMergeStarted:
		t.Returning = state.FileMove{Of: t.OpenDelegates()[0].ID}
	case state.DelegateDone:
		for _, d := range t.OpenDelegates()[:min(1, len(t.OpenDelegates()))] {
			d.Ended = state.DelegateComplete
			t.SetDelegate(d)
		}
	}
	status, ok := map[state.Event]state.CheckStatus{state.CheckStarted: state.CheckRunning, state.CheckPassed: state.CheckGreen,
		state.CheckFailed: state.CheckRed, state.CheckVoid: state.CheckGateError}[ev]
	if ok {
		t.Check.Status = status
	}
	switch ev {
	case state.CheckFailed:
		t.Check.Same++
		t.Check.Errors = 0
	case state.CheckVoid:
		t.Check.Errors++
	case state.CheckPassed, state.Answer:
		t.Check.Same, t.Check.Errors = 0, 0
	}
}

// NewTask returns a task that has just come to the state. An executor has claimed it where the state
// allows that.
func NewTask(in state.State) state.Task {
	t := state.New()
	t.State = in
	if in.InHand() || in.Frozen() {
		t.ClaimedBy = somebody
	}
	kinds := map[state.State]state.Event{state.Consultation: state.Consult, state.AwaitingHuman: state.AskHuman}
	if kind := kinds[in]; kind != "" {
		t.Paused = []state.Pause{{Kind: kind, State: state.Executing, By: somebody}}
	}
	return t
}
