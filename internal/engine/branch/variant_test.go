//go:build unix

package branch_test

import (
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
)

// TestTheAgentOfAnAttemptIsFrozenOnItsBranch: each has its own, whatever ferrus.toml says later, after config accept, a
// rollback, a reset and in the next task; the project itself has the configured one. S2-18.
func TestTheAgentOfAnAttemptIsFrozenOnItsBranch(t *testing.T) {
	t.Parallel()
	toml := func(agent string) string {
		return enginetest.Gate("true") + "[hq.executor]\nagent = \"" + agent + "\"\n"
	}
	p := enginetest.Repository(t, toml("gemini"))
	p.Begun()
	h := p.Human()
	is := func(name, want string) {
		t.Helper()
		e := p.On(name).Human().Engine()
		gate, err := e.Gate(enginetest.View(t, e.Session(h.Caller)))
		if who := gate.HQ.Executor; err != nil || who.Agent+":"+who.Model != want {
			t.Errorf("%s is worked on by %s:%s, not %s (%v)", name, who.Agent, who.Model, want, err)
		}
		if st := enginetest.Must(e.Status())(t); name != "own" && len(st.Differs) > 0 {
			t.Errorf("%s differs: %v", name, st.Differs)
		}
	}
	enginetest.Branched(t, h, branch.Fork{Names: []string{"fast.1", "fast.2"}, Variants: []state.Variant{{Agent: "codex"}, {Agent: "claude-code", Model: "opus"}}})
	is("fast.1", "codex:")
	is("fast.2", "claude-code:opus")

	two := p.On("fast.2")
	first := enginetest.View(t, two.Human()).Task.Seq
	two.Does("code.txt", "two\n")
	p.Write("ferrus.toml", toml("qwen-code"))
	is("fast.2", "claude-code:opus")
	enginetest.Must2(two.Human().AcceptConfig(t.Context()))(t)
	is("fast.2", "claude-code:opus")
	enginetest.Must(two.Human().Rollback(t.Context(), first-1, "Back before the branch."))(t)
	is("fast.2", "claude-code:opus")
	enginetest.Must(two.Human().Reset(t.Context(), ""))(t)
	enginetest.Must(two.Human().CreateTask(t.Context(), "Another.", ""))(t)
	is("fast.2", "claude-code:opus")
	if a := branch.Attempts(t.Context(), h.Engine(), []string{"fast.2"})[0]; a.Agent != "claude-code:opus" {
		t.Errorf("%+v", a)
	}
	if gate := enginetest.Must(h.Engine().Gate(enginetest.View(t, h)))(t); gate.HQ.Executor.Agent != "gemini" {
		t.Errorf("the project is worked on by %s", gate.HQ.Executor.Agent)
	}
}

// TestTheAgentOfAnAttemptIsNotThatOfARule which gave the task to another before the branch was made.
func TestTheAgentOfAnAttemptIsNotThatOfARule(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("test ! -e red")+"[[rules]]\non = \"check_failed\"\nthen = \"executor gemini\"\n")
	_, ex := p.Begun()
	p.Write("red", "")
	if out := enginetest.Check(t, ex, state.CheckRed); out.Task.Assigned.Agent != "gemini" {
		t.Fatalf("%+v", out.Task.Assigned)
	}
	before := enginetest.View(t, ex).Task.Seq
	enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"same"}})
	enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"other"}, Variants: []state.Variant{{Agent: "codex"}}})
	is := func(name, want string) {
		t.Helper()
		h := p.On(name).Human()
		if gate := enginetest.Must(h.Engine().Gate(enginetest.View(t, h)))(t); gate.HQ.Executor.Agent != want {
			t.Errorf("%s is worked on by %s, not %s", name, gate.HQ.Executor.Agent, want)
		}
	}
	is("same", "gemini")
	is("other", "codex")
	enginetest.Must(p.On("other").Human().Rollback(t.Context(), before, "Back to the rule."))(t)
	is("other", "codex")
}
