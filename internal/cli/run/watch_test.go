package run

import (
	"io"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/hq"
	"github.com/ferrus-go/ferrus/internal/slot"
)

// TestAQuestionIsOpenUntilTheTaskMoves: what is typed meanwhile answers it, be the agent that asked gone by then.
func TestAQuestionIsOpenUntilTheTaskMoves(t *testing.T) {
	w := newWatcher((&cli.App{Out: io.Discard}), nil, false)
	for _, step := range []struct {
		event hq.Event
		open  string
	}{
		{hq.Event{Kind: hq.Moved}, ""},
		{hq.Event{Kind: hq.Asked, Run: "q1"}, "q1"},
		{hq.Event{Kind: hq.Ended, Ended: &slot.Run{}}, "q1"},
		{hq.Event{Kind: hq.Ending}, "q1"},
		{hq.Event{Kind: hq.Asked, Run: "q2"}, "q2"},
		{hq.Event{Kind: hq.Moved}, ""},
	} {
		if w.tell(step.event); w.open != step.open {
			t.Errorf("after %s the open question is %q", step.event.Kind, w.open)
		}
	}
}
