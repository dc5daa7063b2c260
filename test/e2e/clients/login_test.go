//go:build unix

package clients

import (
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/model"
)

// TestWhoCannotLogInBecomesAQuestion, soon, and no loop.
func TestWhoCannotLogInBecomesAQuestion(t *testing.T) {
	t.Parallel()
	for _, p := range pairs {
		t.Run(p.executor, func(t *testing.T) {
			refused := model.When(model.Request.Executor, model.Answer(model.Reply{Status: 401}))
			r := newRig(t, p.supervisor, p.executor, model.Diligent(refused))
			if code, out := r.run(ferrus, "run", "--headless", task); code != 6 || r.now().State != state.AwaitingHuman {
				t.Errorf("exit code %d, %s\n%s", code, r.now().State, out)
			}
			// Codex ends within a second, or nearly: twice alike is enough then.
			if n := r.started()[agents.Executor]; n != 2 && n != 3 {
				t.Errorf("%d starts\n%s", n, r.runs())
			}
			r.gone()
		})
	}
}

// TestARateLimitIsWaitedFor, as long as the provider says, and nobody is asked. Claude Code alone reports how long.
func TestARateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	limit := func(r model.Request) (model.Reply, bool) {
		// Claude Code tries once more by itself.
		return model.Reply{Status: 429, Header: map[string]string{"Retry-After": "1"}}, r.Executor() && refused.Add(1) <= 2
	}
	r := newRig(t, codex, claude, model.Diligent(limit, model.ReadPatch(), model.Work(paint)))
	if code, out := r.run(ferrus, "run", "--headless", task); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if n := r.started()[agents.Executor]; n != 2 {
		t.Errorf("%d starts\n%s", n, r.runs())
	}
	r.gone()
}
