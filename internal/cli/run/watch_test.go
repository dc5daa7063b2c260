package run

import (
	"io"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
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
