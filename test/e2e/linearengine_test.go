//go:build unix

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// An outcome is an event of the engine: its line is known, and so its place.
type outcome struct{ *store.Line }

func (o outcome) String() string {
	return fmt.Sprintf("line %d, %s of %s", o.Seq, o.Event, o.Actor.Agent)
}

func (o outcome) on(m machine) (machine, bool) {
	if m.task.Seq+1 != o.Seq {
		return m, false
	}
	by := state.Engine
	if o.Event == state.CheckStarted {
		by = state.Holder
		if m.task.ClaimedBy != o.Actor.Agent {
			return m, false
		}
	} else if o.Rule == "" && (m.task.Check.ID != o.State.Check.ID || m.task.Check.Status != state.CheckRunning) {
		return m, false
	}
	next, err := m.step(o.Event, by)
	if err != nil {
		return m, false
	}
	next.task.Check = state.Check{ID: o.State.Check.ID, Status: o.State.Check.Status}
	switch o.Event {
	case state.CheckStarted:
		next.task.Issued.Checks++
	case state.AskHuman:
		ask(&next.task)
	case state.Consult:
		consulted(&next.task)
	}
	return next.sealed(), next.task.State == o.To
}

// A death is the end of a process.
type death struct{ agent string }

func (d death) String() string { return "the death of " + d.agent }

func (d death) on(m machine) (machine, bool) {
	if m.task.ClaimedBy != d.agent {
		return m, true
	}
	m.dead = true
	return m.sealed(), true
}

// operations is the history for the checker: calls, deaths, and what the engine did, some time between the first gate
// of that process and its end.
func operations(lives []*life, engines []*store.Line, over time.Duration) (list []porcupine.Operation) {
	add := func(d deed, from, to time.Duration) {
		list = append(list, porcupine.Operation{Input: d, Call: from.Nanoseconds(), Return: to.Nanoseconds()})
	}
	gates := map[string][2]time.Duration{}
	for _, l := range lives {
		end := over
		if l.gone > 0 {
			end = l.gone
			add(death{l.agent}, l.ends, l.gone)
		}
		for _, c := range l.calls {
			add(c, c.begun, c.ended)
			if _, begun := gates[l.agent]; !begun && (c.tool == "check" || c.tool == "submit") {
				gates[l.agent] = [2]time.Duration{c.begun, end}
			}
		}
	}
	for _, l := range engines {
		span, known := gates[l.Actor.Agent]
		switch {
		case l.Rule != "":
			span = [2]time.Duration{0, over} // the next caller follows a rule
		case !known:
			span = [2]time.Duration{over, over} // nobody has called for it: the checker will find no place
		}
		add(outcome{l}, span[0], span[1])
	}
	return list
}

// stuck tells how far the checker came: the machine after the longest history that could be, and what could not follow.
func stuck(ops []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var longest []porcupine.Operation
	for _, part := range info.PartialLinearizationsOperations()[0] {
		if len(part) > len(longest) {
			longest = part
		}
	}
	m, done := machine{task: state.New()}.sealed(), map[deed]bool{}
	for _, op := range longest {
		m, _ = op.Input.(deed).on(m)
		done[op.Input.(deed)] = true
	}
	text := fmt.Sprintf("%d of %d could be, to %s; then none of", len(longest), len(ops), m.key)
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for n, op := range ops {
		if done[op.Input.(deed)] || n > len(longest)+10 {
			continue
		}
		text += fmt.Sprintf("\n  %v to %v: %v", time.Duration(op.Call), time.Duration(op.Return), op.Input)
		if c, ok := op.Input.(*call); ok {
			text += fmt.Sprintf(", in %s, seq %d, epoch %d, about %q", c.res.State, c.res.Seq, c.res.Epoch, c.about)
		}
	}
	return text
}
