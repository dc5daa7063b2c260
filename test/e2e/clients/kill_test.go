//go:build unix

package clients

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/model"
)

// TestAKilledExecutorHasASuccessor, which gets the packet and finishes the work, also in a sandbox.
func TestAKilledExecutorHasASuccessor(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		for _, m := range []sandbox.Mechanism{sandbox.None, sandbox.Bwrap} {
			t.Run(fmt.Sprintf("%s in %s", p.executor, m), func(t *testing.T) { killExecutor(t, p.supervisor, p.executor, m) })
		}
	}
}

func killExecutor(t *testing.T, supervisor, executor string, m sandbox.Mechanism) {
	if err := sandbox.Probe(t.Context(), m, ferrus); err != nil {
		t.Skip(err)
	}
	first := func(r model.Request) bool { return model.Claimed(r) && r.Packet().Epoch == 1 }
	hang := model.When(first, model.Answer(model.Reply{Hang: true}))
	note := func(r model.Request) (model.Reply, bool) { // before it hangs
		return model.Use("ferrus/progress", map[string]any{"note": "Blue it is."}), first(r) && !r.Called("ferrus/progress")
	}
	r := newRig(t, supervisor, executor, model.Diligent(note, hang, model.ReadPatch(), model.Work(paint)))
	if m != sandbox.None {
		r.configure(strings.Replace(config(supervisor, executor), "[checks]\n", fmt.Sprintf("[checks]\nsandbox = %q\nnetwork = true\n", m), 1) + fmt.Sprintf("sandbox = %q\n", m))
		r.write(r.machine("executor/home/.codex/config.toml"), model.CodexConfig(r.model.URL(codex)))
	}
	c := r.conduct("run", "--headless", task)
	kit.Eventually(t, "the executor to be in the middle of it", func() bool { return r.written() >= 3 })
	killed := time.Now()
	r.slay(r.clients(agents.Executor)...)
	<-c.done
	if c.code != 0 {
		t.Fatalf("exit code %d\n%s", c.code, &c.out)
	}
	var claims []time.Time
	for _, l := range r.history() {
		if l.Event == state.Claim {
			claims = append(claims, l.At)
		}
	}
	if len(claims) != 2 || r.started()[agents.Executor] != 2 {
		t.Errorf("claims at %v\n%s", claims, r.runs())
	} else {
		t.Logf("%.1f s from the death of the client to the claim of its successor", claims[1].Sub(killed).Seconds())
	}
	if !r.heard(agents.Executor, "Blue it is.") {
		t.Error("the successor was not told what its predecessor noted")
	}
	r.gone()
}
