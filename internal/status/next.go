package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Step is a command that moves the task on, or shows more of it.
type Step struct {
	Command string `json:"command"`
	Why     string `json:"why,omitempty"`
}

// stepsIn are what a person can do in a state, the most likely first. What else depends on the facts is in next.
var stepsIn = map[state.State][]Step{
	state.Idle: {{`ferrus run "what is to be done"`, "starts the agents and waits for the result"},
		{`ferrus task "what is to be done"`, "for agents that you start yourself"}, {"ferrus log", ""}},
	state.Executing:    {{"ferrus log", ""}, {"ferrus diff", ""}},
	state.Addressing:   {{"ferrus log", ""}, {"ferrus diff", ""}},
	state.Checking:     {{"ferrus log", ""}, {"ferrus diff", ""}},
	state.Consultation: {{`ferrus answer "..."`, "if the supervisor does not"}, {"ferrus log", ""}},
	state.Reviewing: {{"ferrus diff", ""}, {"ferrus approve", "if the supervisor does not"},
		{`ferrus reject -m "..."`, ""}},
	state.Complete: {{"ferrus diff", ""}, {`ferrus run "..."`, "the next task"}, {`ferrus reopen -m "..."`, "if something is missing"}},
	state.Failed: {{`ferrus reopen -m "..."`, "with a hint; the budgets start again"}, {"ferrus reset", "to abandon it"},
		{"ferrus log", ""}},
}

// next are the commands for the task as it is, each with its branch.
func next(r *Report) []Step {
	if r.part() && r.finish == "" {
		return r.partSteps()
	}
	list := r.steps()
	for i := range list {
		list[i].Command = refusal.CommandOn(r.Branch, list[i].Command)
	}
	return list
}

func (r *Report) steps() []Step {
	if r.finish != "" {
		return []Step{{r.finish, "finishes moving the files; until then nothing else works"}}
	}
	list := slices.Clone(stepsIn[r.State])
	switch {
	case r.deserted() && len(r.Agents) > 0:
		list = slices.Insert(list, 0, Step{"ferrus resume", "continues: the run that started the agents has ended"})
	case r.deserted():
		list = slices.Insert(list, 0, Step{"ferrus resume", "starts the agent that is missing"})
	case r.State == state.Complete && r.uncommitted:
		list = slices.Insert(list, 1, Step{"ferrus commit", "commits it, with your git hooks"})
	case r.State == state.Complete && r.Branch != "" && r.merged:
		list = slices.Insert(list, 1, Step{"ferrus branch --remove " + r.Branch, "deletes the branch, which is merged"})
	case r.State == state.Complete && r.Branch != "":
		list = slices.Insert(list, 1, Step{"ferrus merge " + r.Branch, "merges it into the project"})
	}
	switch {
	case r.Question == nil:
	case len(r.Question.Options) > 0:
		list = append(list, Step{"ferrus answer 1", "or another number"}, Step{`ferrus answer "only if ..."`, ""})
	default:
		list = append(list, Step{`ferrus answer "..."`, ""})
	}
	if r.Consultation != nil && r.Consultation.Answered {
		list = slices.DeleteFunc(list, func(s Step) bool { return strings.HasPrefix(s.Command, "ferrus answer") })
	}
	if r.Holder != nil && r.State != state.AwaitingHuman {
		list = append(list, Step{"ferrus release", "unassigns " + r.Holder.Agent})
	}
	if r.dayLimit {
		list = append(list, Step{records.Allow, "lets agents start in spite of the limit of the day"})
	}
	switch {
	case slices.ContainsFunc(r.Notices, func(n string) bool { return strings.HasPrefix(n, "config_changed") }):
		list = append(list, Step{"ferrus config accept", "to use the present ferrus.toml"})
	case r.Check != nil && r.Check.Commands == nil:
		list = append(list, Step{"ferrus config accept", "after ferrus.toml names checks; without checks nothing can be submitted"})
	}
	return list
}

// deserted reports whether the task waits for an agent that no run would start: nobody works on it, or the agents of a run
// that has ended do.
func (r *Report) deserted() bool {
	switch {
	case r.part() && !r.delegated, r.Node != "" || r.State == state.Idle || r.State.Over():
		return false
	case r.Conductor != 0:
		return slices.ContainsFunc(r.troubles, func(w conductor.Trouble) bool { return w.Here }) // the node of this computer
	case len(r.Agents) > 0:
		return true
	}
	return r.Waiting.For == "supervisor" || r.Waiting.For == "executor" && (r.Holder == nil || r.Holder.Dead)
}

// Resumable reports whether agents of a run have worked on the task, and it waits for one that no run would start.
func (r *Report) Resumable() bool { return r.Spent.Runs > 0 && r.deserted() }

// WaitText says who is waited for.
func (r *Report) WaitText() string {
	switch {
	case r.Waiting.For == "check":
		return "for check " + r.Check.ID
	case r.part() && (r.Waiting.For == "human" || r.Waiting.For == "supervisor"):
		return "for " + r.decider()
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
	return "for " + Who(r.Holder.Agent)
}

// After is the report after an act that has left the task as now, as far as it says whether a run is to continue. Who works on the task
// is not looked up again.
func (r *Report) After(e *engine.Engine, now store.Snapshot) *Report {
	after := *r
	after.State, after.Waiting, after.Holder = now.Task.State, state.WaitingFor(now.Task), nil
	if now.Task.ClaimedBy != "" {
		after.Holder = &holder{Agent: now.Task.ClaimedBy, Dead: e.Verdict(now).Dead}
	}
	return &after
}

// Delegator is the branch of the task that waits for this part of it, "" for the project's own. It reports false for a task that is no
// part of another one.
func (r *Report) Delegator() (branch string, delegated bool) { return r.parent.Branch, r.delegated }

// Sentence says in a line where the task is and what will come, to one who wanted something else of it.
func (r *Report) Sentence() string {
	if r.part() && r.finish == "" {
		return r.partSentence()
	}
	return r.where()
}

// on is a text of ours with the branch in its commands.
func (r *Report) on(text refusal.Own, args ...any) string {
	return refusal.OnBranch(r.Branch, text, args...)
}

// worker says who works on the task, or who will.
func (r *Report) worker(since string) string {
	switch {
	case r.Holder != nil && !r.Holder.Dead && r.deserted():
		return r.on("it is claimed by %s%s, and the run that started it has ended; ferrus resume{branch} continues the task", r.Holder.Agent, since)
	case r.Holder != nil && !r.Holder.Dead:
		return r.on("it is claimed by %s%s; a submission will appear in `ferrus status{branch}`", r.Holder.Agent, since)
	case r.Node != "":
		return "the node " + r.Node + " starts an executor for it"
	case r.Conductor != 0:
		return fmt.Sprintf("the run (process %d) starts an executor for it", r.Conductor)
	case r.Holder != nil:
		return r.on("no agent works on it: %s; ferrus resume{branch} starts an executor", r.Holder.Why)
	}
	return r.on("no executor has claimed it%s; ferrus resume{branch} starts an executor, and one that calls wait_for_task gets it", since)
}

func (r *Report) where() string {
	since := ""
	if !r.Since.IsZero() {
		since = ", since " + format.Age(r.Since)
	}
	switch r.State {
	case state.Idle:
		return r.on(`ferrus task{branch} "what is to be done" creates one; ferrus run{branch} "..." also starts the agents`)
	case state.Executing, state.Addressing, state.Checking:
		return r.worker(since)
	case state.Consultation:
		if r.Consultation != nil && !r.Consultation.Answered {
			return r.on("consultation %s waits for a supervisor%s; you can answer it too: ferrus answer{branch} \"...\"", r.Consultation.ID, since)
		}
		return "the consultation is answered" + since + "; " + r.worker("")
	case state.AwaitingHuman:
		if r.Question != nil {
			return r.on("question %s from %s waits for you%s: ferrus answer{branch}", r.Question.ID, r.Question.By, since)
		}
	case state.Reviewing:
		if r.Submission != nil {
			return r.on("submission %s waits for a review%s: ferrus approve{branch}, or ferrus reject{branch} -m \"...\"", r.Submission.ID, since)
		}
	case state.Complete:
		return r.on(`it is done%s; ferrus reopen{branch} -m "..." reopens it, ferrus task{branch} "..." creates the next one`, since)
	case state.Failed:
		return r.on(`%s; ferrus reopen{branch} -m "..." continues with a hint, ferrus reset{branch} abandons it`, r.FailureReason)
	}
	return r.on("ferrus status{branch} shows more")
}

// Sentence says in a line where the task is and what will come, for one who wanted something else of it.
func Sentence(e *engine.Engine) string {
	r, err := Read(e)
	if err != nil {
		return refusal.OnBranch(e.Place().Branch, "ferrus status{branch} shows more")
	}
	return r.Sentence()
}
