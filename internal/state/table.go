package state

import (
	"maps"
	"slices"
	"time"
)

// A move is one row of the table: who may make it, under which condition, where it leads and what
// it changes.
type move struct {
	by     []Role
	when   condition
	then   target
	spend  Budget // counts one; the last unit leads to Failed instead
	do     []op
	moving bool // it may be made while a rollback moves the files
}

type moves map[Event]*move

// open reports whether the role may make the move in the present state of the task. No condition
// binds the engine: it knows the facts and raises the event that fits them.
func (m move) open(t Task, by Role) bool {
	return slices.Contains(m.by, by) && (by == Engine || m.when.met(t)) && (m.moving || t.Returning == FileMove{})
}

// table is the state machine. An event that is not listed for a state cannot happen in it.
var table = map[State]moves{
	Idle: always.and(moves{
		CreateTask: create,
		Branch:     {by: of(Human, Engine), then: stay, do: ops(dropLease, bumpEpoch, dropCheck)}, // the engine makes that of a delegate
	}),
	Executing:  working.and(held),
	Addressing: working.and(held),
	Checking: working.and(held).and(moves{
		Submit: {by: of(Holder), when: alone, then: goTo(Reviewing)},
		Scored: scored,
	}),
	Consultation: held.and(moves{
		Claim:          claim,
		Progress:       {by: of(Holder), then: stay},
		RespondConsult: {by: of(Supervisor, Human), when: unanswered, then: stay, do: ops(markAnswered)},
		TakeResponse:   {by: of(Holder), when: answered, then: back},
		AskHuman:       {by: of(Supervisor, Engine), when: unanswered, then: pause(AwaitingHuman)},
	}),
	AwaitingHuman: held.and(moves{
		Answer: {by: of(Human), then: back},
		Tell:   spoken,
	}),
	Reviewing: underway.and(moves{
		Scored:   scored,
		AskHuman: {by: of(Supervisor, Engine), then: pause(AwaitingHuman)},
		Approve:  {by: of(Supervisor, Human, Engine), then: goTo(Complete)},
		Reject:   {by: of(Supervisor, Human), then: goTo(Addressing), spend: ReviewCycles, do: ops(zeroChecks)},
	}),
	Complete: taken.and(moves{
		CreateTask: create,
		Reopen:     reopen,
		Select:     {by: of(Supervisor, Human), then: stay, do: ops(markSelected)},
		Scored:     scored,
	}),
	Failed: taken.and(moves{
		Reopen: reopen,
	}),
}

// These are rows that several states share. always applies in every state, taken in every state
// with a task, underway where the task has not ended, held where a session may have the claim,
// working where the executor works.
var (
	always = moves{
		Branch:     {by: of(Human), then: stay, do: ops(dropLease, bumpEpoch, dropCheck, loseDelegates)},
		MergeBegun: {by: of(Human), then: stay, do: ops(dropLease, bumpEpoch, dropCheck)},
		Merge:      merge(stay),
		Violation:  {by: of(Engine), then: stay, do: ops(countEdit), moving: true},
		Repair:     {by: of(Engine, Human), then: stay, moving: true},
	}
	taken = always.and(moves{
		AcceptConfig:  {by: of(Human), then: stay, do: ops(unassign)},
		RollbackBegun: {by: of(Human), then: stay, do: ops(dropLease, bumpEpoch, dropCheck), moving: true},
		Rollback:      {by: of(Human), then: recall, do: ops(dropLease, bumpEpoch, dropCheck, endMove), moving: true},
		Reset:         {by: of(Human), then: goTo(Idle), do: ops(wipe, bumpEpoch), moving: true},
		DelegateDone:  {by: of(Engine), then: stay, moving: true},
	})
	underway = taken.and(moves{
		Steer:    {by: of(Human), then: stay},
		Fallback: {by: of(Engine), then: stay},
		Tell:     spoken,
		// The work of a branch of this task was approved: so the task is complete here as well.
		Merge: merge(goTo(Complete)),
	})
	held = underway.and(moves{
		Tell:    {by: of(Holder, Supervisor), then: stay},
		Release: {by: of(Human), when: leased, then: stay, do: ops(dropLease, bumpEpoch, dropCheck)},
	})
	working = moves{
		Claim:        claim,
		CheckStarted: {by: of(Holder), then: stay},
		CheckPassed:  {by: of(Engine), then: goTo(Checking), do: ops(zeroChecks)},
		CheckFailed:  {by: of(Engine), then: goTo(Addressing), spend: CheckRetries},
		CheckVoid:    {by: of(Engine), then: stay},
		Progress:     {by: of(Holder), then: stay},
		Consult:      {by: of(Holder, Engine), then: pause(Consultation), do: ops(markAsked)},
		Reassign:     {by: of(Engine), then: stay, do: ops(dropLease, bumpEpoch, dropCheck)},
		AskHuman:     {by: of(Holder, Engine), then: pause(AwaitingHuman)},

		DelegateStarted:      {by: of(Holder), then: stay},
		DelegateDecided:      {by: of(Holder), when: delegating, then: stay},
		DelegateMergeStarted: {by: of(Holder), when: delegating, then: stay, do: ops(dropCheck)},
		DelegateMerged:       {by: of(Holder, Engine), when: fetching, then: stay, do: ops(dropCheck, endMove), moving: true},
	}
	claim  = &move{by: of(Executor), then: stay, do: ops(dropLease, bumpEpoch, dropCheck)}
	spoken = &move{by: of(Supervisor), then: stay}
	create = &move{by: of(Supervisor, Human), then: goTo(Executing), do: ops(wipe)}
	scored = &move{by: of(Engine), then: stay} // it counts for one tree and one gate, so nothing has to void it
	reopen = &move{by: of(Human), then: goTo(Addressing), do: ops(zeroChecks, zeroReviews, unmark)}
)

func merge(then target) *move {
	return &move{by: of(Human), then: then, do: ops(dropLease, bumpEpoch, dropCheck, endMove), moving: true}
}

// and returns the union of two sets of moves; on conflict the move of more wins.
func (m moves) and(more moves) moves {
	union := maps.Clone(m)
	maps.Copy(union, more)
	return union
}

func of(roles ...Role) []Role { return roles }
func ops(list ...op) []op     { return list }

// A condition is a fact of the task that a move needs. The zero condition is always met.
type condition struct {
	name  string
	holds func(Task) bool
}

var (
	unanswered = condition{"unanswered", func(t Task) bool { return !t.Consultation.Answered }}
	answered   = condition{"answered", func(t Task) bool { return t.Consultation.Answered }}
	leased     = condition{"leased", func(t Task) bool { return t.ClaimedBy != "" }}

	delegating = condition{"delegating", func(t Task) bool { return len(t.OpenDelegates()) > 0 }}
	alone      = condition{"alone", func(t Task) bool { return len(t.OpenDelegates()) == 0 }}
	fetching   = condition{"fetching", func(t Task) bool { return t.Returning.Of != "" }}
)

func (c condition) met(t Task) bool { return c.holds == nil || c.holds(t) }

// A target says where a move leads. It is data, so that the documentation can draw it.
type target struct {
	verb string // go, pause, back, stay, recall
	to   State
}

var (
	back   = target{verb: "back"}   // to where the newest pause came from
	stay   = target{verb: "stay"}   // nowhere
	recall = target{verb: "recall"} // to the state of a named journal entry, which the engine lays over the task
)

func goTo(s State) target  { return target{"go", s} }
func pause(s State) target { return target{"pause", s} }

// An op is a change of the task other than its state.
type op struct {
	name  string
	apply func(*Task)
}

var (
	zeroChecks    = op{"zeroChecks", func(t *Task) { t.CheckRetries = 0 }}
	zeroReviews   = op{"zeroReviews", func(t *Task) { t.ReviewCycles = 0; t.FailureReason = "" }}
	markAsked     = op{"markAsked", func(t *Task) { t.Consultation.Answered = false }}
	markAnswered  = op{"markAnswered", func(t *Task) { t.Consultation.Answered = true }}
	dropLease     = op{"dropLease", func(t *Task) { t.ClaimedBy, t.Session, t.ClaimedAt = "", "", time.Time{} }}
	bumpEpoch     = op{"bumpEpoch", func(t *Task) { t.Epoch++ }}
	dropCheck     = op{"dropCheck", abandonCheck}
	endMove       = op{"endMove", func(t *Task) { t.Returning = FileMove{} }}
	markSelected  = op{"markSelected", func(t *Task) { t.Selected = true }}
	unmark        = op{"unmark", func(t *Task) { t.Selected, t.Merged = false, "" }}
	countEdit     = op{"countEdit", func(t *Task) { t.Violations++ }}
	unassign      = op{"unassign", func(t *Task) { t.Assigned = Assigned{} }}
	loseDelegates = op{"loseDelegates", func(t *Task) { t.endDelegates(DelegateLost) }}
	wipe          = op{"wipe", func(t *Task) { *t = t.emptied() }}
)

// abandonCheck marks a running check as abandoned: its epoch has ended, so its result does not
// count.
func abandonCheck(t *Task) {
	if t.Check.Status == CheckRunning {
		t.Check.Status = CheckAbandoned
	}
}
