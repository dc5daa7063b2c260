package run

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/status"
)

// TestAQuestionIsOpenUntilTheTaskMoves: what is typed meanwhile answers it, be the agent that asked gone by then.
func TestAQuestionIsOpenUntilTheTaskMoves(t *testing.T) {
	w := newWatcher((&cli.App{Out: io.Discard}), nil, false)
	for _, step := range []struct {
		event conductor.Event
		open  string
	}{
		{conductor.Event{Kind: conductor.Moved}, ""},
		{conductor.Event{Kind: conductor.Asked, Run: "q1"}, "q1"},
		{conductor.Event{Kind: conductor.Ended, Ended: &process.Run{}}, "q1"},
		{conductor.Event{Kind: conductor.Ending}, "q1"},
		{conductor.Event{Kind: conductor.Asked, Run: "q2"}, "q2"},
		{conductor.Event{Kind: conductor.Moved}, ""},
	} {
		if w.tell(step.event); w.open != step.open {
			t.Errorf("after %s the open question is %q", step.event.Kind, w.open)
		}
	}
}

// TestTheSandboxOfAnAgentIsSaid at its start, when it is found, while it works, and at its end where it had replaced .git; without
// one nothing is.
func TestTheSandboxOfAnAgentIsSaid(t *testing.T) {
	for _, mechanism := range []string{"landlock", ""} {
		var out bytes.Buffer
		a := &cli.App{Out: &out}
		w := newWatcher(a, nil, true)
		run := process.Run{Name: "executor-1", Agent: "codex", Sandbox: mechanism, Replaced: mechanism != ""}
		said := map[string]func(){
			"start": func() {
				w.tell(conductor.Event{Kind: conductor.Started, Run: run.Name, Agent: run.Agent, Sandbox: run.Sandbox})
			},
			"found": func() {
				w.tell(conductor.Event{Kind: conductor.Found, Run: run.Name, Agent: run.Agent, Sandbox: run.Sandbox})
			},
			"status": func() { a.ShowAgent(status.AgentReport{Run: run}) },
		}
		for what, say := range said {
			out.Reset()
			if say(); !strings.Contains(out.String(), "codex") || strings.Contains(out.String(), "landlock") != (mechanism != "") || strings.Contains(out.String(), "sandbox") != (mechanism != "") {
				t.Errorf("%s, in %q: %s", what, mechanism, &out)
			}
		}
		if end := cli.DescribeEnd(run); strings.Contains(end, ".git") != run.Replaced {
			t.Errorf("the end, in %q: %s", mechanism, end)
		}
	}
}
