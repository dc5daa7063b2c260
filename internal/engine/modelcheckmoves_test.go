package engine

import (
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A stage has the real sessions, which decide, and a situation instead of a disk, a clock and processes.
type stage struct {
	e        *Engine
	ex       [2]*Session
	sup, hum *Session
	bug      *Session // ferrus itself
	is       *situation
	faults   []string // the promises that the newest move broke
}

// at is a situation on the stage: every session knows what it knows there.
func (g *stage) at(s *situation) {
	g.is = s
	for i, x := range g.ex {
		x.epoch = s.ex[i].epoch
	}
	g.sup.shown, g.hum.shown = s.sup.shown, s.hum.shown
}

// probe is what a look at a session's liveness lock shows.
func (g *stage) probe(session string) lease.Probe {
	file, is := g.is.lost, lease.Gone
	for i, id := range exIDs {
		if id == session {
			file, is = g.is.ex[i].lost, lease.Alive
		}
	}
	if file {
		return lease.Unknown
	}
	return is
}

// raise has a session act, as the engine would under the store's lock, and reports whether it might.
func (g *stage) raise(s *Session, a transition) bool {
	before := *g.is
	change, err := s.change(before.snapshot(), a, "")
	if err != nil {
		return false
	}
	g.is.commit(change)
	g.chronicle(before, s, change)
	return true
}

func (g *stage) set(flag *bool, to bool) bool { *flag = to; return true }

func (g *stage) awake(i int) bool { return !g.is.ex[i].stopped }

// creating gives every task another id than the one before it, and pins the first gate.
var creating = transition{event: state.CreateTask, docs: map[state.Doc]string{store.GateDoc: gatesOf[0]},
	apply: func(now store.Snapshot, next *state.Task) { next.TaskID = "t2" }}

func (g *stage) accept() bool {
	return g.raise(g.hum, transition{event: state.AcceptConfig, docs: map[state.Doc]string{store.GateDoc: gatesOf[g.is.conf]}})
}

// lookAround is wait_for_review and review_pending.
func (g *stage) lookAround() bool {
	t := g.is.task
	switch t.State {
	case state.Reviewing:
		g.sup.show(t, t.Submission.ID, "")
	case state.Consultation:
		g.sup.show(t, "", t.Consultation.ID)
	default:
		return false
	}
	g.is.sup.shown, g.is.shownNow = g.sup.shown, true
	return true
}

// weigh is the part of approve and reject that is done without the lock.
func (g *stage) weigh(r *reviewing) bool {
	t := g.is.task
	if r.on || t.State == state.Reviewing && overtaken(t.Submission, trees[g.is.tree]) {
		return false
	}
	r.looking = looking{on: true, task: t.TaskID, id: t.Submission.ID, state: t.State, present: t.State == state.Reviewing,
		same: t.Submission.Tree == trees[g.is.tree]}
	return true
}

func (g *stage) decide(s *Session, r *reviewing, ev state.Event) bool {
	if !r.on {
		return false
	}
	looked := state.Task{TaskID: r.task, State: r.state, Submission: state.Submission{ID: r.id}}
	g.raise(s, transition{event: ev, check: s.bound(looked, "")})
	r.looking = looking{}
	return true
}

func (g *stage) read() bool {
	t := g.is.task
	if g.is.asks.on || t.State != state.AwaitingHuman {
		return false
	}
	g.is.asks = looking{on: true, task: t.TaskID, id: t.Top().ID, present: true}
	return true
}

// byRule is what a rule does: nothing has happened since it was found due.
func (g *stage) byRule(a transition) bool {
	a.as, a.rule, a.check = state.Engine, "on an event", refuseWhileChecking
	return g.raise(g.bug, a)
}

func (g *stage) answer() bool {
	a := &g.is.asks
	if !a.on {
		return false
	}
	g.raise(g.hum, answering(state.Task{TaskID: a.task, State: state.AwaitingHuman, Paused: []state.Pause{{ID: a.id}}}, "a"))
	*a = looking{}
	return true
}

// claim is what tryClaim does. One that is not told does not know that it holds the work.
func (g *stage) claim(i int, told bool) bool {
	s, t := g.ex[i], g.is.task
	switch {
	case s.Holds(t):
		return false
	case g.is.holding() == owner(i):
		g.is.ex[i].epoch = t.Epoch
		return true
	}
	var before predecessor
	sure := g.is.owner == nobody || g.is.owner == ended && (!g.is.lost || g.is.rebooted)
	if !g.raise(s, s.claiming(g.is.snapshot(), &before)) {
		return g.date()
	}
	g.expect("who takes the work knows whether its predecessor may still be editing", before.Sure == sure)
	if told {
		g.is.ex[i].epoch = g.is.task.Epoch
	}
	return true
}

func (g *stage) date() bool {
	term, err := g.e.dated(g.is.snapshot())
	if err == nil {
		g.is.due, g.is.left = term.Term, runs
	}
	return err == nil
}

func (g *stage) renew(i int) bool {
	term, err := g.ex[i].renewal(g.is.snapshot())
	if err != nil {
		return false
	}
	g.expect("a stale holder renews nothing", g.is.owner == owner(i))
	g.is.due, g.is.left = term.Term, runs
	return true
}

func (g *stage) check(i int) bool {
	x := &g.is.ex[i]
	if x.job.on {
		return false
	}
	tree := g.is.tree
	if !g.raise(g.ex[i], checking(trees[tree], "")) {
		return false
	}
	t := g.is.task
	x.job = running{on: true, tenure: true, task: t.TaskID, id: t.Check.ID, epoch: t.Epoch, tree: t.Check.Tree, was: tree, gate: t.Pin.SHA256}
	return true
}

func (g *stage) verdict(i int, run checks.Status) bool {
	j := g.is.ex[i].job
	if !j.on {
		return false
	}
	began := store.Snapshot{Task: state.Task{TaskID: j.task, Epoch: j.epoch, Check: state.Check{ID: j.id, Tree: j.tree}}}
	out := Checked{ID: j.id, Status: outcome(run, j.tree, trees[g.is.tree])}
	res := checks.Result{Status: run}
	counts := g.raise(g.ex[i], out.act(&job{session: g.ex[i]}, began, res))
	if counts {
		g.expect("the verdict of a check that a stale holder began does not count", j.tenure)
		g.is.seal = proof{}
		if run == checks.Passed && j.was == g.is.tree {
			g.is.seal = proof{true, j.was, j.gate}
		}
	}
	g.is.ex[i].job = running{}
	return true
}

// lose is a check whose outcome could not be committed.
func (g *stage) lose(i int) bool {
	was := g.is.ex[i].job.on
	g.is.ex[i].job = running{}
	return was
}

// offer is the part of a submit that is done without the lock.
func (g *stage) offer(i int) bool {
	t, u := g.is.task, &g.is.ex[i].submit
	if u.on {
		return false
	}
	green := g.ex[i].checked(t) && trees[g.is.tree] == t.Check.Tree
	if !green && t.State.InHand() {
		return false // it runs the gate
	}
	*u = handing{on: true, green: green, check: t.Check, tree: g.is.tree}
	return true
}

func (g *stage) submit(i int) bool {
	u := g.is.ex[i].submit
	if !u.on {
		return false
	}
	looked := g.is.task
	looked.Check = u.check
	g.raise(g.ex[i], submitting(looked, u.green, trees[u.tree], "d", "p"))
	g.is.ex[i].submit = handing{}
	return true
}

// beginScore is the part of a score that is done without the lock.
func (g *stage) beginScore() bool {
	tree, err := g.bug.Scorable(g.is.snapshot())
	if g.is.scores.on || err != nil {
		return false
	}
	g.is.scores = scoring{on: true, task: g.is.task.TaskID, tree: tree, gate: g.is.task.Pin.SHA256}
	return true
}

// score enters a score. One of another task can have the same tree and the same gate: then it is one of this work.
func (g *stage) score() bool {
	s := g.is.scores
	if !s.on {
		return false
	}
	g.raise(g.bug, g.bug.scoring(state.Score{Value: 1, Tree: s.tree, Gate: s.gate}))
	g.is.scores = scoring{}
	return true
}

// deface is an edit of STATE.json, which is put back and journalled; the deadline stood nowhere else.
func (g *stage) deface() bool {
	next, err := state.Step(g.is.task, state.Violation, state.Engine, state.Limits{})
	g.expect("an edit of STATE.json is journalled", err == nil)
	g.is.task, g.is.due = next, lease.Term{}
	g.is.left, g.is.rebooted = unknown, false // nobody knows that either
	return err == nil
}

func (g *stage) tick() bool {
	if g.is.left != runs {
		return false
	}
	g.is.due.DeadlineNS -= unit
	g.is.left = over
	return true
}

func (g *stage) dies(i int) {
	if g.is.holding() == owner(i) {
		g.is.task.Session, g.is.lost = endedID, g.is.ex[i].lost
	}
	if g.is.owner == owner(i) {
		g.is.owner = ended
	}
	g.is.ex[i] = executing{}
}

func (g *stage) restart() bool {
	for i := range g.ex {
		g.dies(i)
	}
	g.is.sup, g.is.hum, g.is.asks = reviewing{}, reviewing{}, looking{}
	if g.is.due.Boot == "" {
		return true
	}
	g.is.due.Boot = "earlier"
	g.is.rebooted = true
	return true
}

// clean removes all liveness files.
func (g *stage) clean() bool {
	for i := range g.is.ex {
		g.is.ex[i].lost = g.is.ex[i].epoch != 0 || g.is.holding() == owner(i)
	}
	g.is.lost = true
	return true
}
