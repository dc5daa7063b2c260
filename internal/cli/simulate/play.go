package simulate

import (
	"errors"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// play raises events one after the other, up to the first that is refused.
func play(t state.Task, moves []raised, lim state.Limits) ([]played, error) {
	var list []played
	for _, m := range moves {
		by := m.role
		if by == state.Executor && t.ClaimedBy != "" && m.event != state.Claim {
			by = state.Holder
		}
		next, err := state.Step(t, m.event, by, lim)
		p := played{Event: m.event, Role: m.role, From: t.State}
		var refused *state.RefusedError
		if errors.As(err, &refused) {
			p.Refused, _, _ = strings.Cut(refused.Error(), "; ")
			p.Allowed, next = refused.Allowed, t
		} else if err != nil {
			return list, err
		} else {
			m.lay(&next)
		}
		p.To, p.Epoch, p.Waiting, p.FailureReason = next.State, next.Epoch, engine.WaitingFor(next).For, next.FailureReason
		p.CheckRetries, p.Reviews = status.Budget{Used: next.CheckRetries, Max: lim.CheckRetries}, status.Budget{Used: next.ReviewCycles, Max: lim.ReviewCycles}
		list = append(list, p)
		if p.Refused != "" {
			break
		}
		t = next
	}
	return list, nil
}

// somebody is the executor that has claimed the task in a simulation.
const somebody = "executor:simulated:1"

// lay lays the facts of an event over the task which a later one may depend on, as the engine does.
func (m raised) lay(t *state.Task) {
	if m.event == state.Claim {
		t.ClaimedBy = somebody
	}
	status, ok := map[state.Event]state.CheckStatus{state.CheckStarted: state.CheckRunning, state.CheckPassed: state.CheckGreen,
		state.CheckFailed: state.CheckRed, state.CheckVoid: state.CheckGateError}[m.event]
	if ok {
		t.Check.Status = status
	}
}

// freshTask is a task that has just come to a state.
func freshTask(name string) (state.Task, error) {
	t := state.New()
	var names []string
	for _, s := range state.States() {
		names = append(names, string(s))
		if strings.EqualFold(name, string(s)) {
			t.State = s
		}
	}
	if !slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) }) {
		return t, cli.UsageError(meant(name, names), "there is no state %q", name)
	}
	if t.State.InHand() || t.State.Frozen() {
		t.ClaimedBy = somebody
	}
	kinds := map[state.State]state.Event{state.Consultation: state.Consult, state.AwaitingHuman: state.AskHuman}
	if kind := kinds[t.State]; kind != "" {
		t.Paused = []state.Pause{{Kind: kind, State: state.Executing, By: somebody}}
	}
	return t, nil
}
