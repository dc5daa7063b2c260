//go:build unix

package clients

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// TestAQuestionEndsTheRunAndItsAnswerGoesOn: the executor asks and leaves; who comes after it knows the answer.
func TestAQuestionEndsTheRunAndItsAnswerGoesOn(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			r := newRig(t, p.supervisor, p.executor, model.Diligent(model.AskOnce("Which blue?"), model.ReadPatch(), model.Work(paint)))
			code, out := r.run(ferrus, "run", "--headless", task)
			if code != 6 || !strings.Contains(out, "Which blue?") || r.now().State != state.AwaitingHuman {
				t.Fatalf("exit code %d, %s\n%s", code, r.now().State, out)
			}
			r.gone()
			r.must(ferrus, "answer", "The blue of noon.")
			if code, out := r.run(ferrus, "resume", "--headless"); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if now := r.now(); now.State != state.Complete || r.started()[agents.Executor] != 2 {
				t.Errorf("%s, started %v", now.State, r.started())
			}
			if !r.heard(agents.Executor, "The blue of noon.") {
				t.Error("the successor was not told the answer")
			}
			r.gone()
		})
	}
}

// heard reports whether a model of a client in the duty's role was told something when it claimed the work.
func (r *rig) heard(duty agents.Duty, text string) bool {
	for _, s := range r.model.Seen() {
		for _, c := range s.Calls() {
			if s.Executor() == (duty == agents.Executor) && c.Tool == "ferrus/wait_for_task" && strings.Contains(c.Result.Text, text) {
				return true
			}
		}
	}
	return false
}
