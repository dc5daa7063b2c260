//go:build unix

package clients

import (
	"slices"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// TestEachClientPlaysEachRole, started by its adapter alone: from a task that a client gives to Complete.
func TestEachClientPlaysEachRole(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" for "+p.supervisor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, eventful(model.Create(task)))
			began := time.Now()
			r.end(r.launch(p.supervisor, agents.Supervisor, "Give the task."))
			for task := r.now(); task.State != state.Complete; task = r.now() {
				switch task.State {
				case state.Reviewing:
					r.end(r.launch(p.supervisor, agents.Reviewer, "Review it."))
				case state.Executing, state.Addressing:
					executor := r.launch(p.executor, agents.Executor, "Do it.")
					kit.Eventually(t, "a consultation or a submission", func() bool {
						now := r.now()
						return now.State == state.Consultation && !now.Consultation.Answered || now.State == state.Reviewing
					})
					if r.now().State == state.Consultation {
						r.end(r.launch(p.supervisor, agents.Consultant, "Answer."))
					}
					r.end(executor)
				default:
					t.Fatalf("%s with nobody at work", task.State)
				}
			}
			t.Logf("%.1f s, %d requests", time.Since(began).Seconds(), len(r.model.Seen()))
			if got := r.text("colour.txt"); got != painted {
				t.Errorf("colour.txt is %q, want %q", got, painted)
			}
			if got := r.events(); !slices.Equal(got, eventfully) {
				t.Errorf("journal %v\nwant    %v", got, eventfully)
			}
		})
	}
}
