//go:build unix

package clients

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/test/model"
)

// TestAgentsSendMessages: each reads once what the other has sent, and the executor's successor reads it with the task.
func TestAgentsSendMessages(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor+" and "+p.supervisor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, eventful(model.TellOnce("I paint the north wall."), model.TellBack("Mind the window.")))
			if code, out := r.run(ferrus, "run", "--headless", task); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if got, most := r.told(agents.Reviewer, "I paint the north wall."); len(got) == 0 || most != 1 {
				t.Errorf("the supervisors read it in %v, %d times in one conversation", got, most)
			}
			got, most := r.told(agents.Executor, "Mind the window.")
			if !got["wait_for_consult"] || !got["wait_for_task"] || most != 1 {
				t.Errorf("the executors read it in %v, %d times in one conversation", got, most)
			}
			r.gone()
		})
	}
}

// told returns the tools whose results had a message for the agents of a duty, and how often one conversation had it.
func (r *rig) told(duty agents.Duty, text string) (by map[string]bool, most int) {
	by = map[string]bool{}
	for _, s := range r.model.Seen() {
		if s.Executor() != (duty == agents.Executor) {
			continue
		}
		n := 0
		for _, told := range s.Told() {
			for _, m := range told.Messages {
				if m.Text == text {
					by[told.Tool] = true
					n++
				}
			}
		}
		most = max(most, n)
	}
	return by, most
}
