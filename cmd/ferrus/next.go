package main

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
)

// A step is a command that moves the task on, or shows more of it.
type step struct {
	Command string `json:"command"`
	Why     string `json:"why,omitempty"`
}

// steps are what a person can do in a state, the most likely first. What else depends on the facts is in next.
var steps = map[state.State][]step{
	state.Idle: {{`ferrus run "what is to be done"`, "starts the agents and sees it through"},
		{`ferrus task "what is to be done"`, "for agents that you start yourself"}, {"ferrus log", ""}},
	state.Executing:    {{"ferrus log", ""}, {"ferrus diff", ""}},
	state.Addressing:   {{"ferrus log", ""}, {"ferrus diff", ""}},
	state.Checking:     {{"ferrus log", ""}, {"ferrus diff", ""}},
	state.Consultation: {{`ferrus answer "..."`, "if the supervisor does not"}, {"ferrus log", ""}},
	state.Reviewing: {{"ferrus diff", ""}, {"ferrus approve", "if the supervisor does not"},
		{`ferrus reject -m "..."`, ""}},
	state.Complete: {{"ferrus diff", "commit it when you like it"}, {`ferrus run "..."`, "the next task"},
		{`ferrus reopen -m "..."`, "if one thing is missing"}},
	state.Failed: {{`ferrus reopen -m "..."`, "with a hint; the budgets start anew"}, {"ferrus reset", "to give it up"},
		{"ferrus log", ""}},
}

// next are the commands for the task as it is.
func next(r *report) []step {
	list := slices.Clone(steps[r.State])
	if r.deserted() {
		list = slices.Insert(list, 0, step{"ferrus resume", "starts the agent that is missing"})
	}
	switch {
	case r.Question == nil:
	case len(r.Question.Options) > 0:
		list = append(list, step{"ferrus answer 1", "or another number"}, step{`ferrus answer "only if ..."`, ""})
	default:
		list = append(list, step{`ferrus answer "..."`, ""})
	}
	if r.Consultation != nil && r.Consultation.Answered {
		list = slices.DeleteFunc(list, func(s step) bool { return strings.HasPrefix(s.Command, "ferrus answer") })
	}
	if r.Holder != nil && r.State != state.AwaitingHuman {
		list = append(list, step{"ferrus release", "takes the work away from " + r.Holder.Agent})
	}
	switch {
	case slices.ContainsFunc(r.Notices, func(n string) bool { return strings.HasPrefix(n, "config_changed") }):
		list = append(list, step{"ferrus config accept", "if what ferrus.toml says now is to hold"})
	case r.Check != nil && r.Check.Commands == nil:
		list = append(list, step{"ferrus config accept", "once ferrus.toml names commands; without any, nothing can be submitted"})
	}
	return list
}

// deserted reports whether the task waits for an agent while nobody works on it, and no run would start one.
func (r *report) deserted() bool {
	if r.Conductor != 0 || r.Waiting.For != "executor" && r.Waiting.For != "supervisor" {
		return false
	}
	return r.Waiting.For == "supervisor" || r.Holder == nil || r.Holder.Dead
}

// wait says who is waited for.
func (r *report) wait() string {
	switch {
	case r.Waiting.For == "check":
		return "for check " + r.Check.ID
	case r.Waiting.For == "human":
		return "for you"
	case r.Waiting.For == "supervisor" && r.State == state.Reviewing:
		return "for a supervisor's review, or yours"
	case r.Waiting.For == "supervisor":
		return "for a supervisor's answer, or yours"
	case r.Waiting.For != "executor":
		return ""
	case r.Holder == nil:
		return "for an executor to claim it (none has)"
	case r.Holder.Dead:
		return "for another executor to claim it: " + r.Holder.Why
	}
	return "for " + r.Holder.Agent
}

// sentence says in a line where the task is, to one who wanted something else of it.
func (r *report) sentence() string {
	since := ""
	if !r.Since.IsZero() {
		since = ", since " + age(r.Since)
	}
	switch r.State {
	case state.Idle:
		return `ferrus task "what is to be done" makes one, ferrus run "..." starts the agents too`
	case state.Executing, state.Addressing, state.Checking:
		if r.Holder == nil {
			return "nobody has claimed it" + since + "; an executor that calls wait_for_task gets it"
		}
		return "it is with " + r.Holder.Agent + since + "; a submission will appear in `ferrus status`"
	case state.Consultation:
		if r.Consultation != nil && !r.Consultation.Answered {
			return "consultation " + r.Consultation.ID + " waits for a supervisor" + since + "; you can answer it too: ferrus answer \"...\""
		}
		return "the consultation is answered and waits for the executor to go on" + since
	case state.AwaitingHuman:
		if r.Question != nil {
			return "question " + r.Question.ID + " from " + r.Question.By + " waits for you" + since + ": ferrus answer"
		}
	case state.Reviewing:
		if r.Submission != nil {
			return "submission " + r.Submission.ID + " waits for a review" + since + ": ferrus approve, or ferrus reject -m \"...\""
		}
	case state.Complete:
		return `it is done` + since + `; ferrus reopen -m "..." takes it up again, ferrus task "..." makes the next`
	case state.Failed:
		return r.FailureReason + `; ferrus reopen -m "..." goes on with a hint, ferrus reset gives it up`
	}
	return "ferrus status says more"
}
