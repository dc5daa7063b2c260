package engine

import (
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state"
)

// longest is how many acts a task may need to its end from wherever it came.
const longest = 60

// finishes leads the situation to Complete as anybody would who only follows what the task says, and reports whether it
// came there. Nobody releases or resets anything, and no process that has stopped is asked to go on: there is always a
// next executor, and time passes. known are situations that have been led there before.
func (g *stage) finishes(s situation, known map[string]bool) bool {
	var road []string
	for range longest {
		k := s.settle()
		if known[k] || s.task.State == state.Complete {
			for _, k := range road {
				known[k] = true
			}
			return true
		}
		road = append(road, k)
		g.at(&s)
		if !g.onwards() {
			return false
		}
	}
	return false
}

// onwards is the next act on the way to Complete.
func (g *stage) onwards() bool {
	t := g.is.task
	if t.Returning.Of != "" {
		return g.fetched(g.bug)
	}
	if d, open := g.open(); open && d.Merged == "" && g.is.child != stopped && g.is.child != lost {
		g.is.child = stopped
	}
	if g.close() {
		return true
	}
	switch t.State {
	case state.Idle:
		return g.raise(g.sup, creating)
	case state.Failed:
		return g.raise(g.hum, transition{event: state.Reopen})
	case state.AwaitingHuman:
		g.is.asks = looking{}
		return g.read() && g.answer() && g.is.task.State != state.AwaitingHuman
	case state.Reviewing:
		return g.judge()
	case state.Consultation:
		if !t.Consultation.Answered {
			return g.lookAround() && g.raise(g.sup, g.sup.responding("r", ""))
		}
	}
	return g.work()
}

func (g *stage) judge() bool {
	g.is.sup.looking = looking{}
	g.lookAround()
	ev := state.Approve
	if !g.weigh(&g.is.sup) { // the tree has changed
		g.is.sup.looking = looking{on: true, task: g.is.task.TaskID, id: g.is.task.Submission.ID, state: state.Reviewing, present: true}
		ev = state.Reject
	}
	g.decide(g.sup, &g.is.sup, ev)
	return g.is.task.State != state.Reviewing
}

// work is the next act of an executor.
func (g *stage) work() bool {
	t := g.is.task
	i := 0
	switch {
	case g.is.owner >= 0 && g.awake(int(g.is.owner)):
		i = int(g.is.owner)
	case g.is.owner == 0:
		i = 1
	}
	if !g.awake(i) {
		g.dies(i) // and another one comes
		g.at(g.is)
	}
	s, x := g.ex[i], &g.is.ex[i]
	switch {
	case !s.Holds(t):
		return g.claim(i, true) || g.tick()
	case t.State == state.Consultation:
		return g.raise(s, transition{event: state.TakeResponse})
	case s.checked(t) && t.Check.Tree == trees[g.is.tree]:
		x.submit = handing{}
		return g.offer(i) && g.submit(i) && g.is.task.State == state.Reviewing
	}
	x.job = running{}
	return g.check(i) && g.verdict(i, checks.Passed) && g.is.task.State == state.Checking
}
