//go:build unix

package e2e

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/anishathalye/porcupine"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// mostMessages is limits.max_messages by default.
const mostMessages = 20

// budgets are the limits of a storm's task.
var budgets = state.Limits{CheckRetries: 3, ReviewCycles: 3}

// A machine is the sequential ferrus that a history is held against: the task, moved by the table, and whether the
// process of the holder has ended, without which nobody may claim what is held.
type machine struct {
	task state.Task
	dead bool
	key  string // tells machines apart
}

func (m machine) sealed() machine {
	t := m.task
	m.key = fmt.Sprint(t.Seq, t.State, t.Epoch, t.ClaimedBy, t.CheckRetries, t.ReviewCycles, len(t.Paused), t.PausedFrom(), t.Top().ID,
		t.Consultation, t.Issued, t.Check.ID, t.Check.Status, t.Submission.ID, m.dead)
	return m
}

// A deed is one operation of a history. on reports whether it could have been done by m as it was done, and what m is
// then.
type deed interface {
	fmt.Stringer
	on(m machine) (machine, bool)
}

// sequential is the model of ferrus that knows one call at a time.
var sequential = porcupine.Model{
	Init: func() any { return machine{task: state.New()}.sealed() },
	Step: func(now, in, _ any) (bool, any) {
		next, ok := in.(deed).on(now.(machine))
		return ok, next
	},
	Equal: func(a, b any) bool { return a.(machine).key == b.(machine).key },
	Hash: func(m any) uint64 {
		h := fnv.New64a()
		h.Write([]byte(m.(machine).key))
		return h.Sum64()
	},
}

// step moves the task by the table.
func (m machine) step(ev state.Event, by state.Role) (machine, error) {
	next, err := state.Step(m.task, ev, by, budgets)
	if err != nil {
		return m, err
	}
	next.Seq++
	if next.ClaimedBy != m.task.ClaimedBy {
		m.dead = false
	}
	m.task = next
	return m, nil
}

// as is the role in which the caller meets the task.
func (c *call) as(m machine) state.Role {
	if c.life.role == state.Executor && m.task.ClaimedBy == c.life.agent {
		return state.Holder
	}
	return c.life.role
}

func (c *call) on(m machine) (machine, bool) {
	switch {
	case c.line != nil:
		return c.acts(m)
	case c.lost:
		return m, true
	case c.res.Code != "":
		return m, c.refusedBy(m)
	}
	return m, c.reads(m)
}

// conditions are what the engine knows and the table does not.
var conditions = map[state.Event]func(c *call, m machine) bool{
	state.Claim:          func(_ *call, m machine) bool { return m.task.ClaimedBy == "" || m.dead },
	state.Submit:         func(_ *call, m machine) bool { return m.task.Check.Status == state.CheckGreen },
	state.Consult:        idle,
	state.AskHuman:       idle,
	state.RespondConsult: func(c *call, m machine) bool { return c.about == m.task.Consultation.ID },
	state.Approve:        reviewed,
	state.Reject:         reviewed,
	state.Tell:           func(_ *call, m machine) bool { return m.task.Issued.Messages < mostMessages },
	state.Answer:         func(c *call, m machine) bool { return c.about == m.task.Top().ID },
}

func idle(_ *call, m machine) bool     { return m.task.Check.Status != state.CheckRunning }
func reviewed(c *call, m machine) bool { return c.about == m.task.Submission.ID }

// facts are what the engine lays over the table's result.
var facts = map[state.Event]func(c *call, t *state.Task){
	state.Claim: func(c *call, t *state.Task) { t.ClaimedBy = c.life.agent },
	state.Submit: func(_ *call, t *state.Task) {
		t.Issued.Submissions++
		t.Submission.ID = number("s", t.Issued.Submissions)
	},
	state.Consult:  func(_ *call, t *state.Task) { consulted(t) },
	state.AskHuman: func(_ *call, t *state.Task) { ask(t) },
	state.Tell:     func(_ *call, t *state.Task) { t.Issued.Messages++ },
}

func consulted(t *state.Task) {
	t.Issued.Consultations++
	t.Consultation.ID = number("c", t.Issued.Consultations)
	t.Paused[len(t.Paused)-1].ID = t.Consultation.ID
}

func ask(t *state.Task) {
	t.Issued.Questions++
	t.Paused[len(t.Paused)-1].ID = number("q", t.Issued.Questions)
}

func number(kind string, n int) string { return kind + strconv.Itoa(n) }

// acts is a call that wrote its event.
func (c *call) acts(m machine) (machine, bool) {
	ev := writes[c.tool]
	if holds := conditions[ev]; holds != nil && !holds(c, m) {
		return m, false
	}
	next, err := m.step(ev, c.as(m))
	if err != nil || ev == state.Claim && next.task.Epoch != m.task.Epoch+1 {
		return m, false
	}
	if lay := facts[ev]; lay != nil {
		lay(c, &next.task)
	}
	return next.sealed(), c.lost || c.told(next.task) || c.rule != nil && c.told(c.rule.State)
}

// told reports whether the result is that of the task.
func (c *call) told(t state.Task) bool {
	same := func(told, is string) bool { return told == "" || told == is }
	return c.res.State == t.State && same(c.res.SubmissionID, t.Submission.ID) && same(c.res.ConsultationID, t.Consultation.ID) &&
		same(c.res.CheckID, t.Check.ID) && (c.tool != "ask_human" || same(c.res.QuestionID, t.Top().ID)) &&
		(c.tool != "wait_for_task" || same(c.res.ClaimedBy, t.ClaimedBy)) && (c.res.Seq == 0 || c.res.Seq == t.Seq)
}

// reads is a call that found the task as it says.
func (c *call) reads(m machine) bool {
	switch {
	case c.tool == "status":
		return c.res.Seq == m.task.Seq && c.shows(m.task)
	case c.tool == "heartbeat", c.res.Status == "claimed":
		return m.task.ClaimedBy == c.life.agent && m.task.Epoch == c.res.Epoch && c.res.State == m.task.State
	}
	return c.told(m.task)
}

// refusedBy reports whether there was a reason for the refusal.
func (c *call) refusedBy(m machine) bool {
	switch c.res.Code {
	case refusal.NotClaimed, refusal.LeaseLost:
		return m.task.ClaimedBy != c.life.agent
	case refusal.CheckRunning:
		return c.tool == "check" || m.task.Check.Status == state.CheckRunning
	case refusal.WrongState:
		return c.mayNot(m)
	}
	return true // a stale review, a changed tree: facts that are not in the task
}

// mayNot reports whether the table refuses. A gate may be refused for what happened after it had begun.
func (c *call) mayNot(m machine) bool {
	ev, writer := writes[c.tool]
	switch {
	case c.tool == "answer":
		return m.task.State != state.AwaitingHuman || m.task.Top().ID != c.about
	case c.tool == "review_pending":
		ev = state.Approve
	case !writer || ev == state.Submit:
		return true
	}
	_, err := m.step(ev, c.as(m))
	return err != nil || ev == state.Tell && !conditions[ev](c, m)
}
