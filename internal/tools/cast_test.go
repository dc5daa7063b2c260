//go:build unix

package tools

import (
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

// newCast makes one in a world that newWorld or repository makes.
func newCast(t *testing.T, in func(t *testing.T, more string) *world) *cast {
	t.Helper()
	w := in(t, "[limits]\nmax_check_retries = 2\n")
	return &cast{world: w, supervisor: w.enter(state.Supervisor, 1), holder: w.enter(state.Executor, 1),
		other: w.enter(state.Executor, 2), lost: w.enter(state.Executor, 3), none: w.enter(None, 1), person: w.person()}
}

// callers are the agents, by what they are.
func (c *cast) callers() map[string]*agent {
	return map[string]*agent{"supervisor": c.supervisor, "holder": c.holder, "other": c.other, "lost": c.lost, "none": c.none}
}

// earlier are other arguments than the samples: a call that repeats itself would not be refused.
var earlier = map[string]map[string]any{
	"create_task": {"description": "Make it so, the first time."},
	"consult":     {"problem": "There is one.", "tried": "Little.", "question": "What else?"},
	"submit":      {"summary": "I did this.", "verification": "I looked at it.", "no_change": "It was so."},
}

// working: there is a task, one executor has lost it, another one holds it.
func working(c *cast) {
	c.supervisor.do("create_task", earlier["create_task"])
	c.lost.do("wait_for_task", nil)
	done, err := c.person.Release(c.t.Context(), "")
	must(c.t, done, err)
	c.holder.do("wait_for_task", nil)
}

func checked(c *cast)   { working(c); c.holder.do("check", nil) }
func submitted(c *cast) { working(c); c.holder.do("submit", earlier["submit"]) }
func shown(c *cast)     { submitted(c); c.supervisor.do("review_pending", nil) }

// asked: the supervisor has seen what the executor asks it.
func asked(c *cast) {
	working(c)
	c.holder.do("consult", earlier["consult"])
	c.supervisor.do("wait_for_review", nil)
}

func answered(c *cast) {
	asked(c)
	c.supervisor.do("respond_consult", map[string]any{"response": "Yes."})
}
