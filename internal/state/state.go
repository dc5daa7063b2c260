// Package state is the state machine of a task: its states, its events, who may raise an event, and
// what follows.
//
// The rules are one table (table.go). The engine asks [Step], the tools ask [Allowed], and the
// documentation and the tests are generated from the same rows. The package is pure: it uses no
// clock, no file and no process.
//
// internal/store saves a task. internal/engine gathers the facts that the machine cannot know, such
// as whether the work tree is the submitted one or whether the caller has the claim, and raises the
// event that fits them.
//
// Start reading at table.go.
package state

// A State is the state of a task, spelled as in STATE.json.
type State string

const (
	// Idle: there is no task.
	Idle State = "Idle"
	// Executing: an executor works on the task, or may claim it.
	Executing State = "Executing"
	// Checking: the checks passed for the tree in check.tree; the work can be submitted. A check
	// that still runs has no state of its own: check.status says so.
	Checking State = "Checking"
	// Addressing: a check failed or the reviewer rejected the work; the executor corrects it.
	Addressing State = "Addressing"
	// Consultation: the executor asked the supervisor and waits for the answer.
	Consultation State = "Consultation"
	// AwaitingHuman: an agent, or the engine, asked a person and waits for the answer.
	AwaitingHuman State = "AwaitingHuman"
	// Reviewing: a submission waits for approve or reject.
	Reviewing State = "Reviewing"
	// Complete: the work was approved. A new task can be created.
	Complete State = "Complete"
	// Failed: a budget is used up. A person can reset or reopen the task.
	Failed State = "Failed"
)

// States returns all states in the order of a task's life.
func States() []State {
	return []State{Idle, Executing, Checking, Addressing, Consultation, AwaitingHuman, Reviewing, Complete, Failed}
}

// Known reports whether s is a state of the machine.
func (s State) Known() bool {
	_, ok := table[s]
	return ok
}

// Frozen reports whether the task waits for an answer in s. See [Task.Waits].
func (s State) Frozen() bool { return s == Consultation || s == AwaitingHuman }

// InHand reports whether the executor may edit, check and ask in s.
func (s State) InHand() bool {
	_, ok := table[s][Consult]
	return ok
}

// Over reports whether the task has ended in s. Then only a person can reopen it.
func (s State) Over() bool { return s == Complete || s == Failed }

// holderless are the states in which no session has the claim. Entering one drops the lease.
var holderless = map[State]bool{Idle: true, Reviewing: true, Complete: true, Failed: true}

// A Role is the role in which a caller raises an event.
type Role string

const (
	Supervisor Role = "supervisor" // creates, answers consultations, reviews
	Executor   Role = "executor"   // any executor, whether it holds the work or not
	Holder     Role = "holder"     // the executor whose session holds the lease
	Human      Role = "human"      // a person at the command line
	Engine     Role = "engine"     // ferrus itself: the outcome of a check, a budget, a rule, a repair
)

// Public returns the role as journals and people name it: a holder is an executor.
func (r Role) Public() Role {
	if r == Holder {
		return Executor
	}
	return r
}

// Roles returns all roles.
func Roles() []Role { return []Role{Supervisor, Executor, Holder, Human, Engine} }

// An Event is something that happens to a task, spelled as in the journal.
type Event string

const (
	CreateTask     Event = "create_task"
	Claim          Event = "claim"
	CheckStarted   Event = "check_started"
	CheckPassed    Event = "check_passed"
	CheckFailed    Event = "check_failed"
	CheckVoid      Event = "check_void" // the check ended without a verdict: gate error, tree changed, abandoned
	Submit         Event = "submit"
	Progress       Event = "progress"
	Consult        Event = "consult"
	RespondConsult Event = "respond_consult"
	TakeResponse   Event = "take_response"
	AskHuman       Event = "ask_human"
	Answer         Event = "answer"
	Approve        Event = "approve"
	Reject         Event = "reject"
	Reopen         Event = "reopen"
	Release        Event = "release"
	Reassign       Event = "reassign" // a rule gives the work to another executor
	Fallback       Event = "fallback" // another agent of its list works for a duty
	Steer          Event = "steer"    // a person messages the running agent
	Tell           Event = "tell"     // an agent sends a message to another one
	Select         Event = "select"   // of several attempts at a task, this approved one is taken
	Scored         Event = "scored"   // [branches] score gave the checked work a number
	AcceptConfig   Event = "accept_config"
	RollbackBegun  Event = "rollback_started" // the files of the work are being moved; only the rollback ends that, or a reset
	Rollback       Event = "rollback"
	Branch         Event = "branch"        // the first of a branch's own; what is before it is its parent's
	MergeBegun     Event = "merge_started" // the files of a branch's work are being moved in; only the merge ends that, a rollback or a reset
	Merge          Event = "merge"         // they are in; it stands in the journals of both
	Reset          Event = "reset"
	Violation      Event = "violation" // a control file was edited from outside and put back
	Repair         Event = "repair"
)

// Events returns all events in the order of the documentation.
func Events() []Event {
	return []Event{CreateTask, Claim, CheckStarted, CheckPassed, CheckFailed, CheckVoid, Submit, Progress, Consult,
		RespondConsult, TakeResponse, AskHuman, Answer, Approve, Reject, Reopen, Release, Reassign, Fallback, Steer, Tell, Select, Scored, AcceptConfig,
		RollbackBegun, Rollback, Branch, MergeBegun, Merge, DelegateStarted, DelegateDecided,
		DelegateMergeStarted, DelegateMerged, DelegateDone, Reset, Violation, Repair}
}
