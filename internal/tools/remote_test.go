//go:build unix

package tools

import (
	"maps"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// from connects an agent whose every call is a session of its own, as without an MCP session over HTTP.
func (w *world) from(role state.Role, token string, more ...func(*Options)) *agent {
	w.t.Helper()
	return w.enter(role, 1, func(o *Options) {
		e := w.open()
		o.Remote = true
		for _, f := range more {
			f(o)
		}
		o.Engine = func() (*engine.Engine, error) { return e, nil }
		o.Session = func(*mcp.CallToolRequest) (*engine.Session, error) {
			return e.Remote(engine.Caller{Role: role, Agent: string(role) + ":" + token + ":1", Once: true}, token, "")
		}
	})
}

// with are the sample arguments of a tool, and a claim.
func with(tool, claim string) map[string]any {
	args := maps.Clone(samples[tool])
	if args == nil {
		args = map[string]any{}
	}
	args["claim"] = claim
	return args
}

func TestACallerWithoutASessionNamesWhatItMeans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	sup, exe := w.from(state.Supervisor, "lead"), w.from(state.Executor, "ci")
	sup.do("create_task", nil)
	got := exe.do("wait_for_task", nil)
	if got.Claim == "" || !strings.Contains(got.Message, "Name this claim") {
		t.Fatalf("claimed with %q: %s", got.Claim, got.Message)
	}
	// Forgotten, it is asked for again; a caller that follows next is not sent to wait for the work that it holds.
	for _, tool := range []string{"check", "progress", "submit", "consult", "heartbeat"} {
		if r := exe.refused(refusal.NotClaimed, tool, nil); r.Next != tool || !strings.Contains(r.Remedy, "claim") {
			t.Errorf("%s: next %s, %s", tool, r.Next, r.Remedy)
		}
	}
	if r := exe.do("wait_for_task", nil); r.Status != "timeout" || !strings.Contains(r.Message, "your own name") {
		t.Errorf("waits: %s, %s", r.Status, r.Message)
	}
	// Another token is sent to wait, claim or none.
	other := w.from(state.Executor, "other")
	for _, args := range []map[string]any{nil, with("check", got.Claim)} {
		if r := other.refused(refusal.NotClaimed, "check", args); r.Next != "wait_for_task" {
			t.Errorf("another gets %s", r.Next)
		}
	}
	if r := exe.do("wait_for_task", with("wait_for_task", got.Claim)); r.Claim != got.Claim || r.Epoch != got.Epoch {
		t.Errorf("the holder's own claim is now %s of %d", r.Claim, r.Epoch)
	}
	exe.do("check", with("check", got.Claim))
	exe.do("submit", with("submit", got.Claim))

	shown := sup.do("review_pending", nil)
	if r := sup.refused(refusal.StaleReview, "approve", nil); r.Next != "approve" || !strings.Contains(r.Remedy, `submission "s1"`) {
		t.Errorf("not told what to name: next %s, %s", r.Next, r.Remedy)
	}
	sup.refused(refusal.StaleReview, "approve", map[string]any{"submission": "s9"})
	if r := sup.do("approve", map[string]any{"submission": shown.SubmissionID}); r.State != state.Complete {
		t.Errorf("approved: %s", r.State)
	}
}
