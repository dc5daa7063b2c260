package status

import (
	"cmp"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/state"
)

// eventWords say for people what an event was.
var eventWords = map[state.Event]string{
	state.CreateTask: "created", state.Branch: "branched", state.Reset: "given up", state.Reopen: "sent back", state.Steer: "told the agent",
	state.Claim: "took the work", state.Release: "unassigned", state.Reassign: "gave the work to another agent", state.Fallback: "changed the agent", state.Progress: "reported progress", state.Tell: "sent a message",
	state.CheckStarted: "started the checks", state.CheckPassed: "checks passed", state.CheckFailed: "checks failed", state.CheckVoid: "checks ended without a verdict",
	state.Submit: "submitted", state.Approve: "approved", state.Reject: "rejected", state.Select: "selected", state.Scored: "scored",
	state.Consult: "asked the reviewer", state.RespondConsult: "answered the executor", state.TakeResponse: "read the answer", state.AskHuman: "asked you", state.Answer: "answered",
	state.MergeBegun: "began to merge", state.Merge: "merged", state.RollbackBegun: "began to go back", state.Rollback: "went back", state.AcceptConfig: "accepted ferrus.toml",
	state.DelegateStarted: "gave a part to another agent", state.DelegateDecided: "decided about a part", state.DelegateMergeStarted: "began to take in a part",
	state.DelegateMerged: "took in a part", state.DelegateDone: "a part ended", state.Violation: "undid an edit of a control file", state.Repair: "repaired",
}

// EventWords say for people what an event was; the name of an event that it does not know.
func EventWords(ev state.Event) string { return cmp.Or(eventWords[ev], string(ev)) }

// roleWords name for people who has a role.
var roleWords = map[string]string{string(state.Executor): "the executor", string(state.Supervisor): "the reviewer"}

// Who names for people who did something: "Claude Code" for executor:claude-code:1, "Codex, the reviewer" for supervisor:codex:1, "the executor 2"
// for executor:command:2, which is a command of their own, and "you" for a person. Any other name is returned as it is.
func Who(actor string) string {
	if actor == "human" {
		return "you"
	}
	parts := strings.Split(actor, ":")
	role := roleWords[parts[0]]
	if len(parts) != 3 || role == "" {
		return actor
	}
	name := productOf(parts[1], role)
	own := name == role
	if parts[2] != "1" {
		name += " " + parts[2]
	}
	if !own && parts[0] == string(state.Supervisor) {
		name += ", " + role
	}
	return name
}

// productOf names the program of an agent for people; of a command of their own it says the role.
func productOf(agent, role string) string {
	a, err := agents.Find(agent)
	if err == nil && a.Program == "" {
		return role
	}
	return cmp.Or(a.Title, agent)
}

// Title names the agent for people by its program: "Claude Code" for claude-code, and the role of a command of their own.
func (a AgentReport) Title() string {
	return productOf(a.Agent, roleWords[string(a.Duty.Role())])
}

// outcomes say what became of a task by an event.
var outcomes = map[state.Event]string{
	state.CheckPassed: "good", state.Approve: "good", state.Merge: "good", state.Select: "good", state.DelegateMerged: "good",
	state.CheckFailed: "bad", state.CheckVoid: "bad", state.Reject: "bad", state.Reset: "bad", state.Violation: "bad",
	state.AskHuman: "ask", state.Consult: "ask", state.Submit: "wait",
}

// Outcome says whether an entry was good or bad for the task, "good" or "bad", asked for something, "ask", or waits for a verdict, "wait"; else "".
func (e Entry) Outcome() string {
	if e.To == state.Failed && e.From != state.Failed {
		return "bad"
	}
	return outcomes[e.Event]
}
