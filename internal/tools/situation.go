package tools

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A situation is what decides, beside the catalogue, what a caller may do and should do next.
type situation struct {
	role     state.Role // Supervisor, Executor or None
	as       state.Role // Holder for the executor that holds the work
	task     state.Task
	headless bool

	work                    bool // there is work that this executor could claim
	submission, consultaton bool // the present one has been shown to this session
	own                     bool // the open question is this role's
}

func (c *call) situation() situation {
	t := c.snap.Task
	in := situation{role: c.opts.Role, as: c.s.As(t), task: t, headless: c.opts.Headless}
	in.submission, in.consultaton = c.s.Shown(t)
	id := c.s.Asked(t)
	in.own = id != "" && t.Top().ID == id
	in.work = c.s.Engine().Claimable(*c.snap)
	return in
}

// offers reports whether a call of the tool would be let through.
func (in situation) offers(t Tool) bool {
	if !t.For(in.role) || t.open != nil && !t.open(in) {
		return false
	}
	if t.Look() {
		return true
	}
	can := state.Allowed(in.task, in.as)
	for _, ev := range t.Events {
		if slices.Contains(can, ev) || ev == state.TakeResponse && in.consulting() {
			return true
		}
	}
	return false
}

// consulting reports whether the holder may wait for a supervisor's answer, though it has not come yet.
func (in situation) consulting() bool {
	return in.as == state.Holder && (in.task.State == state.Consultation ||
		slices.ContainsFunc(in.task.Paused, func(p state.Pause) bool { return p.State == state.Consultation }))
}

// allowed are the tools that would be let through, sorted, without the two that always are.
func (in situation) allowed() []string {
	names := []string{}
	for _, t := range Catalogue() {
		if t.Name != "status" && t.Name != "heartbeat" && in.offers(t) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}

func submissionShown(in situation) bool   { return in.submission }
func consultationShown(in situation) bool { return in.consultaton }
func noCheckRuns(in situation) bool       { return in.task.Check.Status != state.CheckRunning }

// A step is one row of what to do next: the first whose condition holds.
type step struct {
	role state.Role
	when func(situation) bool
	next string
}

func in(states ...state.State) func(situation) bool {
	return func(s situation) bool { return slices.Contains(states, s.task.State) }
}

func (f predicate) and(g predicate) predicate {
	return func(s situation) bool { return f(s) && g(s) }
}

type predicate func(situation) bool

var (
	always    predicate = func(situation) bool { return true }
	idle      predicate = func(s situation) bool { return s.as != state.Holder }
	headless  predicate = func(s situation) bool { return s.headless }
	noWork    predicate = func(s situation) bool { return !s.work }
	checking  predicate = func(s situation) bool { return s.task.Check.Status == state.CheckRunning }
	ownAsked  predicate = func(s situation) bool { return s.own }
	open      predicate = func(s situation) bool { return !s.task.Consultation.Answered }
	shownWork predicate = submissionShown
	shownAsk  predicate = consultationShown
)

var steps = []step{
	{state.Executor, idle.and(headless).and(noWork), "stop"},
	{state.Executor, idle, "wait_for_task"},
	{state.Executor, predicate(in(state.AwaitingHuman)).and(headless), "stop"},
	{state.Executor, in(state.AwaitingHuman), "wait_for_answer"},
	{state.Executor, in(state.Consultation), "wait_for_consult"},
	{state.Executor, checking, "check"},
	{state.Executor, in(state.Checking), "submit"},
	{state.Executor, always, "check"},

	{state.Supervisor, in(state.Idle), "create_task"},
	{state.Supervisor, predicate(in(state.Reviewing)).and(shownWork), "choose"},
	{state.Supervisor, in(state.Reviewing), "review_pending"},
	{state.Supervisor, predicate(in(state.Consultation)).and(open).and(shownAsk), "respond_consult"},
	{state.Supervisor, predicate(in(state.AwaitingHuman)).and(ownAsked).and(headless), "stop"},
	{state.Supervisor, predicate(in(state.AwaitingHuman)).and(ownAsked), "wait_for_answer"},
	{state.Supervisor, in(state.Complete, state.Failed), "stop"},
	{state.Supervisor, always, "wait_for_review"},

	{None, always, "stop"},
}

// next is the tool to call next, "stop", or "choose".
func (in situation) next() string {
	for _, s := range steps {
		if s.role == in.role && s.when(in) {
			return s.next
		}
	}
	return "stop"
}
