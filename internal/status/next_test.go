package status

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

func TestEveryStateSaysWhatIsNext(t *testing.T) {
	for _, s := range state.States() {
		r := &Report{State: s, Question: &Text{ID: "q1"}, Submission: &Text{ID: "s1"}, Consultation: &Text{ID: "c1"}}
		if len(next(r)) == 0 {
			t.Errorf("%s has no next command", s)
		}
		if got := r.Sentence(); got == "ferrus status shows more" {
			t.Errorf("%s has no sentence", s)
		}
	}
}

// TestWhoWorksIsSaidAsItIs: that somebody works on the task, or will, is said only where a process was seen that does, and
// ferrus resume is named where none does.
func TestWhoWorksIsSaidAsItIs(t *testing.T) {
	alive, dead := &holder{Agent: "executor:a:1", Alive: true}, &holder{Agent: "executor:a:1", Dead: true, Why: "its process has ended"}
	started := []AgentReport{{}}
	for _, tt := range []struct {
		name       string
		in         Report
		with, want string // who is named, "" for nobody; the first command
	}{
		{"an agent works", Report{Holder: alive, Conductor: 1}, "executor:a:1", "ferrus log"},
		{"one that a person has opened works", Report{Holder: alive}, "executor:a:1", "ferrus log"},
		{"its run has ended", Report{Holder: alive, Agents: started}, "executor:a:1", "ferrus resume"},
		{"both have ended", Report{Holder: dead}, "", "ferrus resume"},
		{"it has ended, and the run goes on", Report{Holder: dead, Conductor: 1}, "the run", "ferrus log"},
		{"nobody has come", Report{}, "", "ferrus resume"},
		{"nobody has come to the run yet", Report{Conductor: 1}, "the run", "ferrus log"},
	} {
		for _, s := range []state.State{state.Executing, state.Addressing, state.Checking, state.Consultation} {
			r := tt.in
			r.State, r.Waiting.For = s, "executor"
			if s == state.Consultation {
				r.Consultation = &Text{Answered: true}
			}
			said, first := r.Sentence(), next(&r)[0].Command
			if first != tt.want || strings.Contains(said, "ferrus resume") != (tt.want == "ferrus resume") ||
				strings.Contains(said, "is claimed by") != strings.Contains(tt.with, ":") || !strings.Contains(said, tt.with) {
				t.Errorf("%s, %s: %q, next %s", tt.name, s, said, first)
			}
		}
	}
	for _, s := range []state.State{state.Idle, state.Complete, state.Failed} {
		if r := (Report{State: s, Agents: started}); r.deserted() {
			t.Errorf("in %s an agent is missing", s)
		}
	}
}

// TestTheReportAfterAnActIsNotReadAgain: what was read before the act, and the task as the act has left it, say as much about whether a
// run is to continue as a report that is read then.
func TestTheReportAfterAnActIsNotReadAgain(t *testing.T) {
	t.Parallel()
	deserted := map[bool]int{}
	for name, c := range map[string]struct {
		before func(p *enginetest.Machine) (gone *engine.Session) // whose process has ended, nil for nobody's
		act    func(h *engine.Session) (engine.Done, error)
	}{
		"the executor asks, and waits": {func(p *enginetest.Machine) *engine.Session {
			_, ex := p.Begun()
			enginetest.Must(ex.AskHuman(t.Context(), "Which?", nil))(t)
			return nil
		}, func(h *engine.Session) (engine.Done, error) { return h.Answer(t.Context(), "", "This.") }},
		"the executor asks, and ends": {func(p *enginetest.Machine) *engine.Session {
			_, ex := p.Begun()
			enginetest.Must(ex.AskHuman(t.Context(), "Which?", nil))(t)
			return ex
		}, func(h *engine.Session) (engine.Done, error) { return h.Answer(t.Context(), "", "This.") }},
		"the supervisor asks": {func(p *enginetest.Machine) *engine.Session {
			sup, _ := p.Reviewing()
			enginetest.Must(sup.AskHuman(t.Context(), "Which?", nil))(t)
			return nil
		}, func(h *engine.Session) (engine.Done, error) { return h.Answer(t.Context(), "", "This.") }},
		"the executor consults": {func(p *enginetest.Machine) *engine.Session {
			_, ex := p.Begun()
			enginetest.Must(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))(t)
			return nil
		}, func(h *engine.Session) (engine.Done, error) { return h.Answer(t.Context(), "", "This.") }},
		"a rejection": {func(p *enginetest.Machine) *engine.Session { p.Reviewing(); return nil },
			func(h *engine.Session) (engine.Done, error) { return h.Reject(t.Context(), "No.", "") }},
		"it is reopened": {func(p *enginetest.Machine) *engine.Session {
			p.Reviewing()
			enginetest.Must(p.Human().Approve(t.Context(), "", ""))(t)
			return nil
		}, func(h *engine.Session) (engine.Done, error) { return h.Reopen(t.Context(), "More.") }},
	} {
		p := enginetest.Repository(t, enginetest.Gate("true"))
		if gone := c.before(p); gone != nil {
			enginetest.Dies(t, gone)
		}
		h := p.Human()
		before := enginetest.Must(Read(h.Engine()))(t)
		got := before.After(h.Engine(), enginetest.Must(c.act(h))(t).Snapshot)
		want := enginetest.Must(Read(h.Engine()))(t)
		if got.State != want.State || got.Waiting != want.Waiting || got.deserted() != want.deserted() {
			t.Errorf("%s: %s, %+v, %t, want %s, %+v, %t", name, got.State, got.Waiting, got.deserted(), want.State, want.Waiting, want.deserted())
		}
		deserted[got.deserted()]++
	}
	if len(deserted) != 2 {
		t.Errorf("%v", deserted)
	}
}
