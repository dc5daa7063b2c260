package engine

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// expect notes a promise that is not kept.
func (g *stage) expect(promise string, kept bool) {
	if !kept {
		g.faults = append(g.faults, promise)
	}
}

func among(ev state.Event, list ...state.Event) bool { return slices.Contains(list, ev) }

// chronicle notes what has happened, by what the promises say and not by what the task says, and holds the one against
// the other.
func (g *stage) chronicle(before situation, s *Session, c *store.Change) {
	ev, is, was, who := c.Event, g.is, before.task, owner(slices.Index(g.ex[:], s))
	now := is.task

	frees := among(ev, state.Release, state.Reassign, state.Reset, state.RollbackBegun, state.Rollback, state.Branch, state.MergeBegun, state.Merge)
	fences := frees || ev == state.Claim
	g.expect("the epoch rises by one when the holder changes, and never otherwise", now.Epoch == was.Epoch+uint64(one(fences)))
	if ev == state.Claim {
		g.expect("a live holder whose term runs is not replaced", before.replaceable())
		is.owner = who
	} else if who >= 0 {
		g.expect("a stale holder changes nothing", before.owner == who)
	}
	if frees || holderless(now.State) {
		is.owner = nobody
	}
	for i := range is.ex {
		j := &is.ex[i].job
		j.tenure = j.tenure && is.owner == owner(i) && ev != state.Claim
	}
	switch {
	case is.owner == nobody:
		is.left, is.rebooted = unknown, false
	case among(ev, state.Claim, state.Answer, state.RespondConsult) || who >= 0 && c.Actor.Role == state.Executor:
		is.left, is.rebooted = runs, false
	}
	if among(ev, state.CheckStarted, state.CreateTask, state.Reset) {
		is.seal = proof{}
	}
	if among(ev, state.Submit, state.Consult, state.CreateTask, state.Reset) {
		is.shownNow, is.sup.present, is.hum.present = false, false, false
	}
	if among(ev, state.AskHuman, state.CreateTask, state.Reset) {
		is.asks.present = false
	}
	g.review(before, s, ev)
	g.pauses(was, ev)
	g.budgets(was, ev)
	g.scored(before, ev)
	g.delegation(was, ev)
}

// scored is what a score says, and of what.
func (g *stage) scored(before situation, ev state.Event) {
	is, was := g.is.task.Score, before.task
	if ev != state.Scored {
		g.expect("nothing but a score changes the score of a task", is == was.Score || among(ev, state.CreateTask, state.Reset))
		return
	}
	g.expect("a score changes nothing else", g.is.task.State == was.State && g.is.task.Session == was.Session && g.is.task.Check == was.Check)
	g.expect("a score is of the gate in force", is.Gate == was.Pin.SHA256)
	if was.State == state.Checking {
		g.expect("work in hand has a score of what its checks have passed on", before.seal.on && trees[before.seal.tree] == is.Tree)
	} else {
		g.expect("work that was submitted has a score of that", is.Tree == was.Submission.Tree && was.Submission.ID != "")
	}
}

// replaceable reports whether the holder may be replaced, as it is promised: nobody, one that is known to be dead, and
// one whose term is over while it is its turn.
func (s *situation) replaceable() bool {
	live := s.owner >= 0
	seen := live && !s.ex[max(s.owner, 0)].lost || s.owner == ended && !s.lost // its liveness file is there
	switch {
	case s.owner == nobody, !live && seen, s.owner == ended && s.rebooted:
		return true
	case live && seen:
		return s.left == over && !waits(s.task)
	}
	return s.left != runs
}

// waits reports whether it is somebody else's turn than the holder's.
func waits(t state.Task) bool {
	return t.State == state.AwaitingHuman || t.State == state.Consultation && !t.Consultation.Answered
}

func holderless(s state.State) bool {
	return slices.Contains([]state.State{state.Idle, state.Reviewing, state.Complete, state.Failed}, s)
}

// review is promise 8.
func (g *stage) review(before situation, s *Session, ev state.Event) {
	is, was := g.is, before.task
	looked := before.hum
	if s == g.bug && ev == state.Approve {
		looked.looking = looking{present: true, same: was.Submission.Tree == trees[before.tree]}
		g.expect("what a rule approves has been found green, by the gate in force", before.seal.on &&
			trees[before.seal.tree] == was.Submission.Tree && before.seal.gate == was.Pin.SHA256)
	}
	if s == g.sup {
		looked = before.sup
		if among(ev, state.Approve, state.Reject, state.RespondConsult) {
			g.expect("a supervisor decides on what it was shown", before.shownNow)
		}
	}
	if among(ev, state.Approve, state.Reject) {
		g.expect("a decision is on the submission that was looked at", looked.present)
	}
	if ev == state.Approve {
		g.expect("what is approved is what was submitted", looked.same)
	}
	if ev == state.Answer {
		g.expect("an answer is to the question that was read", before.asks.present)
	}
	if is.task.State != state.Reviewing || was.State == state.Reviewing {
		return
	}
	if ev == state.Answer && was.PausedFrom() == state.Reviewing {
		return
	}
	g.expect("the only way to a review is a submission", ev == state.Submit)
	g.expect("what is submitted has been found green, by the gate in force", before.seal.on &&
		trees[before.seal.tree] == is.task.Submission.Tree && before.seal.gate == was.Pin.SHA256)
	g.expect("a submission has an id of its own", is.task.Submission.ID != was.Submission.ID)
}

func (g *stage) pauses(was state.Task, ev state.Event) {
	is := g.is.task
	var from, to []state.Pause = was.Paused, is.Paused
	switch {
	case among(ev, state.Consult, state.AskHuman):
		from = append(slices.Clip(from), state.Pause{Kind: ev, State: was.State})
	case among(ev, state.TakeResponse, state.Answer):
		g.expect("a pause returns to where it came from", is.State == was.PausedFrom())
		from = from[:max(0, len(from)-1)]
	case among(ev, state.Reset, state.CreateTask):
		from = nil
	}
	g.expect("a consultation is answered once, and left when it is", ev != state.TakeResponse && ev != state.RespondConsult ||
		was.Consultation.Answered == (ev == state.TakeResponse))
	g.expect("a consultation begins without an answer", ev != state.Consult || !is.Consultation.Answered)
	g.expect("pauses are entered and left in their order", slices.EqualFunc(from, to, func(a, b state.Pause) bool {
		return a.Kind == b.Kind && a.State == b.State
	}))
	g.expect("a task is paused where it waits for an answer, and only there", is.State.Frozen() == (len(to) > 0))
}

// budgets holds what is spent against what was.
func (g *stage) budgets(was state.Task, ev state.Event) {
	is, checks, cycles := g.is.task, was.CheckRetries, was.ReviewCycles
	switch {
	case ev == state.CheckFailed:
		checks++
	case among(ev, state.CheckPassed):
		checks = 0
	case ev == state.Reject:
		checks, cycles = 0, cycles+1
	case among(ev, state.CreateTask, state.Reset, state.Reopen):
		checks, cycles = 0, 0
	}
	g.expect("each failure is counted once", is.CheckRetries == checks && is.ReviewCycles == cycles)
	g.expect("no budget is overdrawn", checks <= modelLimits.CheckRetries && cycles <= modelLimits.ReviewCycles)
	g.expect("a spent budget ends the task, and nothing else does", (is.State == state.Failed) ==
		(checks == modelLimits.CheckRetries || cycles == modelLimits.ReviewCycles))
}

// standing is what is true of every situation.
func (g *stage) standing() {
	s, t := g.is, g.is.task
	for i, x := range g.ex {
		g.expect("who holds the work is who claimed it last", !x.Holds(t) || s.owner == owner(i))
	}
	g.expect("the task names its holder", s.holding() == s.owner)
	_, can := g.e.claimable(s.snapshot())
	claims := slices.Contains(state.Allowed(t, state.Executor), state.Claim)
	g.expect("a holder that is dead, or whose term is over, can be replaced, and no other", can == (claims && s.replaceable()))
	_, err := state.Step(t, state.Reset, state.Human, modelLimits)
	g.expect("a person can give up", t.State == state.Idle || err == nil)
	g.expect("who waits has somebody to wait for", g.attended())
}

// attended is promise 6: whom the task is said to wait for can do something about it.
func (g *stage) attended() bool {
	t := g.is.task
	can := func(by state.Role, ev ...state.Event) bool {
		return slices.ContainsFunc(state.Allowed(t, by), func(e state.Event) bool { return among(e, ev...) })
	}
	if t.Returning.Of != "" { // the session that has begun it, and the engine where that one has ended
		return can(state.Engine, state.DelegateMerged)
	}
	switch state.WaitingFor(t).For {
	case "human":
		return can(state.Human, state.Answer)
	case "supervisor":
		return can(state.Supervisor, state.RespondConsult, state.Approve)
	case "executor":
		return can(state.Executor, state.Claim) && can(state.Holder, state.CheckStarted, state.TakeResponse)
	case "check":
		return t.ClaimedBy != "" && can(state.Holder, state.CheckStarted)
	}
	return slices.Contains([]state.State{state.Idle, state.Complete, state.Failed}, t.State)
}
