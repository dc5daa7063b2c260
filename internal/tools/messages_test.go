//go:build unix

package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// texts returns the messages of other agents in a result, each with its sender.
func texts(r Result) (list []string) {
	for _, m := range r.Messages {
		list = append(list, m.From+": "+m.Text)
	}
	return list
}

func (c *cast) wantTexts(r Result, want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, texts(r)); diff != "" {
		c.t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(r.FromThePerson) > 0 {
		c.t.Errorf("an agent's message is shown as the person's: %v", r.FromThePerson)
	}
}

// TestAMessageIsDeliveredOnceToEachReader: to the agent of the other role with its next result, to a later one in its
// packet, to nobody else.
func TestAMessageIsDeliveredOnceToEachReader(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	exe, sup := c.holder.s.Agent, c.supervisor.s.Agent
	c.wantTexts(c.holder.do("progress", map[string]any{"note": "I change the table.", "to": "supervisor"}))
	c.wantTexts(c.supervisor.do("status", nil), exe+": I change the table.")
	c.wantTexts(c.supervisor.do("wait_for_review", nil))
	c.wantTexts(c.supervisor.do("queue_task", map[string]any{"text": "Keep the old rows.", "to": "executor"}))
	c.wantTexts(c.supervisor.do("queue_task", map[string]any{"text": "And their order.", "to": "executor"}))
	c.wantTexts(c.holder.do("heartbeat", nil), sup+": Keep the old rows.", sup+": And their order.")
	c.wantTexts(c.holder.do("status", nil))
	for name, a := range c.callers() {
		if got := texts(a.call("status", nil)); len(got) > 0 {
			t.Errorf("the %s reads %v", name, got)
		}
	}

	done, err := c.person.Release(t.Context(), "")
	must(t, done, err)
	next := c.enter(state.Executor, 7)
	c.wantTexts(next.do("wait_for_task", nil), sup+": And their order.", sup+": Keep the old rows.")
	c.wantTexts(next.do("status", nil))
	c.wantTexts(c.enter(state.Supervisor, 2).do("wait_for_review", nil), exe+": I change the table.")

	if w, err := c.person.Engine().View(); err != nil || w.Task.Issued.Notes != 0 || len(w.Task.Progress) != 0 {
		t.Errorf("a message is a progress note, too: %+v, %v", w.Task, err)
	}
}

// TestLongMessagesArriveOneByOne: each result stays small, and nothing is lost.
func TestLongMessagesArriveOneByOne(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	working(c)
	sup := c.supervisor.s.Agent
	var want []string
	for _, letter := range []string{"a", "b", "c"} {
		text := strings.Repeat(letter, 4<<10)
		c.supervisor.do("queue_task", map[string]any{"text": text, "to": "executor"})
		want = append(want, sup+": "+text)
	}
	for _, text := range want {
		c.wantTexts(c.holder.do("heartbeat", nil), text)
	}
	c.wantTexts(c.holder.do("heartbeat", nil))
}

// TestAMessageGoesToTheOtherRole, while there is a task, and not to anybody else.
func TestAMessageGoesToTheOtherRole(t *testing.T) {
	t.Parallel()
	c := newCast(t, newWorld)
	tell := func(to string) map[string]any { return map[string]any{"text": "t", "to": to} }
	c.supervisor.refused(refusal.WrongState, "queue_task", tell("executor"))
	working(c)
	for _, to := range []string{"supervisor", "human", "holder", "nobody", "../x"} {
		if r := c.supervisor.refused(refusal.InvalidInput, "queue_task", tell(to)); !strings.Contains(r.Remedy, `"executor"`) {
			t.Errorf("to %s: %+v", to, r)
		}
	}
	if r := c.holder.refused(refusal.InvalidInput, "progress", map[string]any{"note": "n", "to": "executor"}); !strings.Contains(r.Remedy, `"supervisor"`) {
		t.Errorf("%+v", r)
	}
	c.holder.refused(refusal.TooLarge, "progress", map[string]any{"note": strings.Repeat("x", 4<<10+1), "to": "supervisor"})
	c.enter(state.Executor, 8).refused(refusal.NotClaimed, "progress", map[string]any{"note": "n", "to": "supervisor"})
	c.supervisor.do("queue_task", tell("executor"))
	if r := c.supervisor.do("queue_task", tell("executor")); !r.Repeated {
		t.Errorf("the same message again: %+v", r)
	}
}
