package engine

import (
	"github.com/ferrus-go/ferrus/internal/state"
)

// A child is the branch of the one delegate that is open, as five abstract states: two whole machines that are coupled are
// walked at random, see internal/engine/delegate.
type child int8

const (
	noChild child = iota
	working
	submitted
	asking
	stopped // it has ended, or would need a person
	lost
)

// delegates are the tricks of an executor with its delegate.
func delegates(i int, name string, who kind) []trick {
	does := func(what string, do func(*stage) bool) trick {
		return trick{name + " " + what, family | who, func(g *stage) bool { return g.awake(i) && do(g) }}
	}
	return []trick{
		does("delegates", func(g *stage) bool { return g.delegate(i) }),
		does("approves its delegate", func(g *stage) bool { return g.rule(i, submitted, state.RuledApprove) }),
		does("rejects its delegate", func(g *stage) bool { return g.rule(i, submitted, state.RuledReject) }),
		does("answers its delegate", func(g *stage) bool { return g.rule(i, asking, state.RuledAnswer) }),
		does("begins to merge its delegate", func(g *stage) bool { return g.fetch(i) }),
		does("ends the merge of its delegate", func(g *stage) bool { return g.fetched(g.ex[i]) }),
	}
}

// besides are what happens to a delegate, and what ferrus does about it.
func besides() []trick {
	return []trick{
		{"the delegate submits", family, func(g *stage) bool { return g.child(working, submitted) }},
		{"the delegate asks", family, func(g *stage) bool { return g.child(working, asking) }},
		{"the delegate ends", family, func(g *stage) bool { return g.child(working, stopped) }},
		{"the delegate is removed", family, func(g *stage) bool {
			return g.child(working, lost) || g.child(submitted, lost) || g.child(asking, lost) || g.child(stopped, lost)
		}},
		{"ferrus applies a decision", family, (*stage).applied},
		{"ferrus ends the merge of a delegate", family, func(g *stage) bool { return g.fetched(g.bug) }},
		{"ferrus closes a delegate", family, (*stage).close},
	}
}

// open is the delegate that is open.
func (g *stage) open() (state.Delegate, bool) {
	list := g.is.task.OpenDelegates()
	if len(list) == 0 {
		return state.Delegate{}, false
	}
	return list[0], true
}

func (g *stage) child(from, to child) bool {
	if _, open := g.open(); !open || g.is.child != from {
		return false
	}
	g.is.child = to
	return true
}

func (g *stage) delegate(i int) bool {
	if _, open := g.open(); open || !g.raise(g.ex[i], starting(state.Delegate{Branch: "b"}, "t", g.e.mayDelegate)) {
		return false
	}
	g.is.child = working
	return true
}

// rule is a decision by an executor that was shown what the delegate waits with.
func (g *stage) rule(i int, in child, what state.Ruling) bool {
	d, open := g.open()
	return open && g.is.child == in && g.raise(g.ex[i], ruling(d.ID, "s1", what, ""))
}

// applied is what the delegate makes of a decision. What it waits with then has another id.
func (g *stage) applied() bool {
	d, open := g.open()
	sent := d.Decided.What == state.RuledReject && g.is.child == submitted || d.Decided.What == state.RuledAnswer && g.is.child == asking
	if !open || !sent {
		return false
	}
	g.is.child = working
	d.Decided = state.Verdict{}
	g.is.task = g.is.task.Clone()
	g.is.task.SetDelegate(d)
	return true
}

func (g *stage) fetch(i int) bool {
	d, open := g.open()
	return open && g.is.child == submitted && g.raise(g.ex[i], fetching(d.ID, state.FileMove{From: d.Branch, Tree: "t"}))
}

// fetched is the end of a merge: the work tree is another one.
func (g *stage) fetched(s *Session) bool {
	if !g.raise(s, s.fetched(g.is.task.Returning, "t")) {
		return false
	}
	g.is.tree = 1 - g.is.tree
	return true
}

// close ends a delegate as the facts say.
func (g *stage) close() bool {
	d, open := g.open()
	how := map[child]state.DelegateEnd{stopped: state.DelegateFailed, lost: state.DelegateLost}[g.is.child]
	if d.Merged != "" {
		how = state.DelegateComplete
	}
	if !open || how == "" || g.is.task.Returning.Of != "" {
		return false
	}
	ending := endingDelegate(d.ID, how, "")
	closed := g.raise(g.bug, ending)
	g.expect("a delegate ends once", !closed || !g.raise(g.bug, ending))
	return closed
}

// delegation is what is promised about delegates.
func (g *stage) delegation(was state.Task, ev state.Event) {
	is := g.is.task
	before, open := state.Delegate{}, len(was.OpenDelegates()) > 0
	if open {
		before = was.OpenDelegates()[0]
	}
	g.expect("nothing is submitted while a delegate is open", ev != state.Submit || !open)
	g.expect("a delegate ends once", ev != state.DelegateDone || open && len(is.OpenDelegates()) == 0)
	g.expect("what moves in was approved, and moves in once", ev != state.DelegateMergeStarted ||
		before.Decided.What == state.RuledApprove && before.Merged == "")
	g.expect("nobody claims the work while files move", ev != state.Claim || was.Returning.Of == "")
	g.expect("a merge ends that was begun", ev != state.DelegateMerged || was.Returning.Of != "")
	g.expect("the merge of a delegate keeps its executor", !among(ev, state.DelegateMergeStarted, state.DelegateMerged) ||
		is.ClaimedBy == was.ClaimedBy && is.Session == was.Session)
	g.expect("a check that ran meanwhile does not count", ev != state.DelegateMergeStarted || is.Check.Status != state.CheckRunning)
	g.expect("a task that is over has no open delegate", !is.State.Over() && is.State != state.Idle || len(is.OpenDelegates()) == 0)
	if len(is.OpenDelegates()) == 0 {
		g.is.child = noChild
	}
}

// settled keeps of the delegates the open one, under one name.
func (s *situation) settledDelegates() []state.Delegate {
	open := s.task.OpenDelegates()
	for i := range open {
		open[i] = state.Delegate{ID: "d1", Branch: "b", Merged: rename(open[i].Merged != "", "t", ""), Decided: state.Verdict{What: open[i].Decided.What}}
	}
	return open
}
