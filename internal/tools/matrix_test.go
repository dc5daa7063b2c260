//go:build unix

package tools

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A cast is a world with everybody in it: the supervisor, the executor that holds the work (or held it last), one that
// never held any, one whose work a person took away, and somebody without a role.
type cast struct {
	*world
	supervisor, holder, other, lost, none *agent
	person                                *engine.Session
}

func newCast(t *testing.T) *cast {
	w := newWorld(t, "[limits]\nmax_check_retries = 2\n")
	return &cast{world: w, supervisor: w.enter(state.Supervisor, 1), holder: w.enter(state.Executor, 1),
		other: w.enter(state.Executor, 2), lost: w.enter(state.Executor, 3), none: w.enter(None, 1), person: w.person()}
}

// callers are the roles of the matrix.
func (c *cast) callers() map[string]*agent {
	return map[string]*agent{"supervisor": c.supervisor, "holder": c.holder, "other": c.other, "lost": c.lost, "none": c.none}
}

// A scene is a state of the machine, with what else decides about a call, and how it is reached by real acts.
type scene struct {
	name  string
	state state.State
	play  func(c *cast)
}

// earlier are other arguments than the samples: a call that repeats itself would not be refused.
var earlier = map[string]map[string]any{
	"create_task": {"description": "Make it so, the first time."},
	"consult":     {"problem": "There is one.", "tried": "Little.", "question": "What else?"},
	"ask_human":   {"question": "Which of the three?"},
	"submit":      {"summary": "I did this.", "verification": "I looked at it."},
	"approve":     {"note": "Fine."},
	"reject":      {"notes": "Not quite."},
}

var scenes = []scene{
	{"idle", state.Idle, func(*cast) {}},
	{"idle after a reset", state.Idle, func(c *cast) {
		working(c)
		done, err := c.person.Reset(c.t.Context(), "")
		must(c.t, done, err)
	}},
	{"unclaimed", state.Executing, func(c *cast) { c.supervisor.do("create_task", earlier["create_task"]) }},
	{"executing", state.Executing, working},
	{"executing, a check runs", state.Executing, func(c *cast) {
		working(c)
		c.hold()
		for c.holder.call("check", nil).CheckID == "" { // answers as soon as it has an id to tell
		}
	}},
	{"checking", state.Checking, func(c *cast) { working(c); c.holder.do("check", nil) }},
	{"addressing", state.Addressing, func(c *cast) { working(c); c.write("red", ""); c.holder.do("check", nil); c.remove("red") }},
	{"addressing after a rejection", state.Addressing, func(c *cast) { shown(c); c.supervisor.do("reject", earlier["reject"]) }},
	{"consultation", state.Consultation, func(c *cast) { working(c); c.holder.do("consult", earlier["consult"]) }},
	{"consultation, shown", state.Consultation, func(c *cast) {
		working(c)
		c.holder.do("consult", earlier["consult"])
		c.supervisor.do("wait_for_review", nil)
	}},
	{"consultation, answered", state.Consultation, func(c *cast) {
		working(c)
		c.holder.do("consult", earlier["consult"])
		c.supervisor.do("respond_consult", map[string]any{"response": "Yes.", "consultation": "c1"})
	}},
	{"awaiting, the executor asked", state.AwaitingHuman, func(c *cast) { working(c); c.holder.do("ask_human", earlier["ask_human"]) }},
	{"awaiting, the supervisor asked in a consultation", state.AwaitingHuman, func(c *cast) {
		working(c)
		c.holder.do("consult", earlier["consult"])
		c.supervisor.do("ask_human", earlier["ask_human"])
	}},
	{"awaiting, the supervisor asked in a review", state.AwaitingHuman, func(c *cast) { shown(c); c.supervisor.do("ask_human", earlier["ask_human"]) }},
	{"reviewing", state.Reviewing, submitted},
	{"reviewing, shown", state.Reviewing, shown},
	{"complete", state.Complete, func(c *cast) { shown(c); c.supervisor.do("approve", earlier["approve"]) }},
	{"failed", state.Failed, func(c *cast) { working(c); c.write("red", ""); c.holder.do("check", nil); c.holder.do("check", nil) }},
}

// working: there is a task, one executor has lost it, another one holds it.
func working(c *cast) {
	c.supervisor.do("create_task", earlier["create_task"])
	c.lost.do("wait_for_task", nil)
	done, err := c.person.Release(c.t.Context(), "")
	must(c.t, done, err)
	c.holder.do("wait_for_task", nil)
}

func submitted(c *cast) { working(c); c.holder.do("submit", earlier["submit"]) }
func shown(c *cast)     { submitted(c); c.supervisor.do("review_pending", nil) }

// predicted says from the table and the catalogue alone how a call ends: "" for success.
func predicted(tool Tool, a *agent, task state.Task, scene string) engine.Code {
	lost := a.held != 0 && task.Epoch > a.held
	as := a.role
	if a.role == state.Executor && task.ClaimedBy != "" && task.Session == a.s.ID && !lost {
		as = state.Holder
	}
	holders := func(can bool) engine.Code { // what only the holder may do, when the state lets it
		switch {
		case lost:
			return engine.LeaseLost
		case as == state.Executor && can:
			return engine.NotClaimed
		case as == state.Executor:
			return engine.WrongState
		}
		return ""
	}
	switch tool.Name {
	case "status", "wait_for_task", "wait_for_review", "wait_for_answer":
		return ""
	case "heartbeat":
		return holders(true)
	case "wait_for_consult":
		pending := task.State == state.Consultation || slices.ContainsFunc(task.Paused, func(p state.Pause) bool { return p.State == state.Consultation })
		if code := holders(pending); code != "" || pending {
			return code
		}
		return engine.WrongState
	}
	may := func(role state.Role) bool {
		return slices.ContainsFunc(tool.Events, func(ev state.Event) bool { return slices.Contains(state.Allowed(task, role), ev) })
	}
	bound := slices.Contains([]string{"approve", "reject", "respond_consult"}, tool.Name)
	asks := slices.Contains([]string{"consult", "ask_human"}, tool.Name)
	switch {
	case as == state.Executor:
		return holders(may(state.Holder))
	case !may(as):
		return engine.WrongState
	case bound && !strings.Contains(scene, "shown"):
		return engine.StaleReview
	case asks && task.Check.Status == state.CheckRunning:
		return engine.CheckRunning
	}
	return ""
}

// TestEveryToolInEveryStateForEveryRole calls every tool as everybody in every scene, and finds what the table and the
// catalogue say: the outcome, that a refusal changes nothing, and that allowed names exactly what would succeed.
func TestEveryToolInEveryStateForEveryRole(t *testing.T) {
	var cells, wrong atomic.Int64
	reached := map[state.State]bool{}
	t.Run("scenes", func(t *testing.T) {
		for _, s := range scenes {
			reached[s.state] = true
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				var c *cast
				for _, tool := range Catalogue() {
					for _, name := range []string{"supervisor", "holder", "other", "lost", "none"} {
						if c == nil {
							c = newCast(t)
							s.play(c)
						}
						cells.Add(1)
						fresh, bad := c.cell(s, tool, name)
						for _, b := range bad {
							wrong.Add(1)
							t.Errorf("%s calls %s: %s", name, tool.Name, b)
						}
						if !fresh {
							c = nil
						}
					}
				}
			})
		}
	})
	for _, s := range state.States() {
		if !reached[s] {
			t.Errorf("no scene is in %s", s)
		}
	}
	t.Logf("cells tried: %d, wrong: %d", cells.Load(), wrong.Load())
}

// cell makes one call; fresh tells that the world is as before.
func (c *cast) cell(s scene, tool Tool, name string) (fresh bool, bad []string) {
	a := c.callers()[name]
	snap, err := a.s.Engine().View()
	if err != nil || snap.Task.State != s.state {
		c.t.Fatalf("the state is %s: %v", snap.Task.State, err)
	}
	before := c.disk()
	allowed := a.call("status", nil).Allowed
	r, err := a.try(tool.Name, nil)
	if !tool.For(a.role) {
		_, none := a.try("no_such_tool", nil)
		if err == nil || none == nil || strings.ReplaceAll(err.Error(), tool.Name, "no_such_tool") != none.Error() ||
			!strings.Contains(err.Error(), "unknown tool") {
			bad = append(bad, fmt.Sprintf("a hidden tool answers %v, an unknown one %v", err, none))
		}
		if slices.Contains(allowed, tool.Name) {
			bad = append(bad, "it is hidden, and allowed")
		}
		return true, append(bad, c.changed(before)...)
	}
	if err != nil {
		return false, []string{err.Error()}
	}
	if want := predicted(tool, a, snap.Task, s.name); r.Code != want {
		bad = append(bad, fmt.Sprintf("code %q (%s), the table says %q", r.Code, r.Message, want))
	}
	always := tool.Name == "status" || tool.Name == "heartbeat"
	if ok := r.Code == ""; !always && slices.Contains(allowed, tool.Name) != ok || always && slices.Contains(allowed, tool.Name) {
		bad = append(bad, fmt.Sprintf("allowed was %v, and the call ended with %q", allowed, r.Code))
	}
	if r.Code != "" || tool.ReadOnly {
		bad = append(bad, c.changed(before)...)
	}
	// A look that shows something changes what its session may decide, and a run will yet have an outcome.
	later := tool.Name == "wait_for_review" || tool.Name == "review_pending" || r.Status == "running"
	return r.Code != "" || !later && c.disk() == before, bad
}

func (c *cast) changed(before string) []string {
	if c.disk() == before {
		return nil
	}
	return []string{"it changed the store"}
}
