package status

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// part reports whether the task is a delegate: a part of another task, whose executor decides about it.
func (r *Report) part() bool { return r.parent != (state.Parent{}) }

// decider names who decides about a part.
func (r *Report) decider() string {
	if r.parent.Branch == "" {
		return "the executor of the project's task, which decides about this part"
	}
	return "the executor of branch " + r.parent.Branch + ", which decides about this part"
}

// ResumeCommand starts the agents that the task waits for. Those of a part are started by the run of the whole, which it names so that
// nothing takes it for a command about the branch of the part.
func (r *Report) ResumeCommand() string {
	switch {
	case r.part() && r.parent.Branch == "":
		return "ferrus -C " + git.ShellQuoted(r.Root) + " resume"
	case r.part():
		return refusal.OnBranch(r.parent.Branch, "ferrus resume{branch}")
	}
	return refusal.OnBranch(r.Branch, "ferrus resume{branch}")
}

// removal is the command that removes the branch of a part that has ended, whatever its own task has come to.
func (r *Report) removal() string {
	command := "ferrus branch --remove " + r.Branch
	if r.TaskID != "" && !r.State.Over() {
		command += " --force"
	}
	return command
}

// partSteps are what a person can do about a part: the decisions about it are not theirs, and its agents are started by the run of the
// whole.
func (r *Report) partSteps() []Step {
	own := func(command, why string) Step { return Step{refusal.CommandOn(r.Branch, command), why} }
	list := []Step{own("ferrus log", "")}
	if r.TaskID != "" {
		list = append(list, own("ferrus diff", ""))
	}
	if !r.delegated {
		return append(list, Step{r.removal(), "deletes the branch: nothing waits for it"})
	}
	if r.deserted() {
		list = append([]Step{{r.ResumeCommand(), "starts the agents of the whole task, and of this part"}}, list...)
	}
	if r.State == state.Reviewing {
		list = append(list, own(`ferrus reject -m "..."`, "sends it back before its executor decides"))
	}
	if r.Holder != nil && r.State != state.AwaitingHuman {
		list = append(list, own("ferrus release", "unassigns "+r.Holder.Agent))
	}
	return list
}

// partSentence says in a line where a part is.
func (r *Report) partSentence() string {
	text := "it waits " + r.WaitText()
	switch {
	case !r.delegated:
		return "it was a part of another task, which does not wait for it; " + r.removal() + " deletes the branch"
	case r.State == state.Reviewing:
		text = "submission " + r.submission() + " waits for " + r.decider()
	case r.Holder != nil && !r.Holder.Dead:
		text = "it is claimed by " + r.Holder.Agent
	}
	if r.deserted() {
		text += "; " + r.ResumeCommand() + " starts the agents of the whole task"
	}
	return text
}

// delegates tells a person which parts of a task other agents have, and how those ended that failed: a line each.
func delegates(e *engine.Engine, t state.Task) (list []string) {
	for _, d := range t.Delegates {
		if d.Open() {
			list = append(list, fmt.Sprintf("delegate %s %s; %s shows how it stands", d.ID, delegateDoes(e, d), refusal.OnBranch(d.Branch, "ferrus status{branch}")))
		}
	}
	return append(list, engine.Failed(t)...)
}

// delegateDoes says what a delegate does, as its own branch has it.
func delegateDoes(e *engine.Engine, d state.Delegate) string {
	c, err := delegate.Look(e, d)
	on := "on branch " + d.Branch
	switch {
	case err != nil:
		return on + " cannot be read: " + format.Line(err.Error())
	case c.Phase == delegate.Submitted:
		return "has submitted " + c.On + " " + on + ", and its executor has not decided"
	case c.Phase == delegate.Asking:
		return "asks its executor " + c.On + " " + on
	case c.Phase == delegate.Stopped || c.Phase == delegate.Gone:
		return "has stopped " + on + ": " + format.Line(strings.TrimSpace(c.Why))
	case c.Phase == delegate.Unmade:
		return "is to be started " + on
	}
	return "works " + on
}
