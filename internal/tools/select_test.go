//go:build unix

package tools

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TestASupervisorTakesAnAttempt: it sees them side by side and takes the approved one, which changes nothing of the project.
func TestASupervisorTakesAnAttempt(t *testing.T) {
	t.Parallel()
	c := newCast(t, repository)
	e := got(engine.Open(project.At(c.dir, ""), engine.Options{}))(t)
	defer e.Close()
	person := engine.Caller{Role: state.Human, Agent: "human"}
	if _, err := branch.Create(t.Context(), e.Session(person), branch.Fork{Names: []string{"try.1", "try.2"}, Own: true}); err != nil {
		t.Fatal(err)
	}
	b := got(branch.Open(e, "try.2"))(t)
	defer b.Close()
	h := b.Session(person)
	got(h.CreateTask(t.Context(), "Try it.", ""))(t)

	if r := c.supervisor.do("select", nil); len(r.Attempts) != 2 || r.Attempts[1].Branch != "try.2" || r.Attempts[1].State != state.Executing {
		t.Errorf("%+v", r.Attempts)
	}
	c.supervisor.refused(refusal.WrongState, "select", map[string]any{"branch": "try.2"})
	c.supervisor.refused(refusal.UnknownBranch, "select", map[string]any{"branch": "try.9"})

	ex := b.Session(engine.Caller{Role: state.Executor, Agent: "executor:x:1"})
	if _, _, err := ex.AwaitTask(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
	for {
		out := got(ex.Submit(t.Context(), engine.Submitting{Summary: "Tried.", Verification: "None.", NoChange: "None is needed."}, 0))(t)
		if out.Accepted {
			break
		}
	}
	got(h.Approve(t.Context(), "", ""))(t)
	if r := c.supervisor.do("select", nil); r.Attempts[1].Score != nil || strings.Contains(r.Message, "score") {
		t.Errorf("before it was scored: %+v", r)
	}
	is := got(b.View())(t).Task
	got(h.EnterScore(t.Context(), state.Score{Value: 0.5, Tree: is.Submission.Tree, Gate: is.Pin.SHA256, Log: "logs/x.log"}))(t)
	if r := c.supervisor.do("select", nil); r.Attempts[1].Score == nil || *r.Attempts[1].Score != 0.5 || !strings.Contains(r.Message, "higher score is better") {
		t.Errorf("scored: %+v", r)
	}
	before := c.disk()
	r := c.supervisor.do("select", map[string]any{"branch": "try.2", "reason": "It is shorter."})
	if !strings.Contains(r.Message, "ferrus select try.2") || c.disk() != before {
		t.Errorf("%+v", r)
	}
	now := got(b.View())(t)
	if !now.Task.Selected || now.Top.Note != "It is shorter." || now.Top.Actor.Role != state.Supervisor {
		t.Errorf("%+v", now.Top)
	}
}

// got returns the value of a call that may not fail.
func got[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
