package tools

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A step is one row of the table of next calls: the first row of the role whose condition is true
// counts.
type step struct {
	role state.Role
	when predicate
	next string
}

var steps = []step{
	{state.Executor, idle.and(headless).and(noWork), "stop"},
	{state.Executor, idle, "wait_for_task"},
	{state.Executor, during(state.AwaitingHuman).and(headless), "stop"},
	{state.Executor, during(state.AwaitingHuman), "wait_for_answer"},
	{state.Executor, during(state.Consultation), "wait_for_consult"},
	{state.Executor, fetching, "delegate"},
	{state.Executor, checking.and(submitting), "submit"},
	{state.Executor, checking, "check"},
	{state.Executor, during(state.Checking).and(waitsForDelegates), "delegate"},
	{state.Executor, during(state.Checking), "submit"},
	{state.Executor, always, "check"},

	{state.Supervisor, during(state.Idle), "create_task"},
	{state.Supervisor, during(state.Reviewing).and(submissionShown), "choose"},
	{state.Supervisor, during(state.Reviewing), "review_pending"},
	{state.Supervisor, during(state.Consultation).and(unanswered).and(consultationShown), "respond_consult"},
	{state.Supervisor, during(state.AwaitingHuman).and(ownAsked).and(headless), "stop"},
	{state.Supervisor, during(state.AwaitingHuman).and(ownAsked), "wait_for_answer"},
	{state.Supervisor, during(state.Complete, state.Failed), "stop"},
	{state.Supervisor, headless.and(unneeded), "stop"},
	{state.Supervisor, always, "wait_for_review"},

	{None, always, "stop"},
}

// A predicate is a condition of a step.
type predicate func(situation) bool

func (f predicate) and(g predicate) predicate {
	return func(s situation) bool { return f(s) && g(s) }
}

func during(states ...state.State) predicate {
	return func(s situation) bool { return slices.Contains(states, s.task.State) }
}

var (
	always   predicate = func(situation) bool { return true }
	idle     predicate = func(s situation) bool { return s.as != state.Holder }
	headless predicate = func(s situation) bool { return s.headless }
	noWork   predicate = func(s situation) bool { return !s.work }
	checking predicate = func(s situation) bool { return s.begun || s.task.Check.Status == state.CheckRunning }
	fetching predicate = func(s situation) bool { return s.task.Returning.Of != "" }
	ownAsked predicate = func(s situation) bool { return s.own }
	// submitting: without git only a gate that ran for the submission counts. A check in between
	// would replace its outcome.
	submitting predicate = func(s situation) bool { return s.tool == "submit" }
	// waitsForDelegates: the work cannot be submitted before they have ended.
	waitsForDelegates predicate = func(s situation) bool { return len(s.task.OpenDelegates()) > 0 }
	// unneeded: the next action is the executor's or a person's.
	unneeded predicate = func(s situation) bool {
		return s.task.State != state.Reviewing && !(s.task.State == state.Consultation && !s.task.Consultation.Answered)
	}
	unanswered predicate = func(s situation) bool { return !s.task.Consultation.Answered }
)

// next returns the tool to call next, "stop", or "choose".
func (in situation) next() string {
	for _, s := range steps {
		if s.role == in.role && s.when(in) {
			return s.next
		}
	}
	return "stop"
}
