package engine

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// actOf is what a rule does after the event of a line. Under the lock nothing may have happened since now.
func (e *Engine) actOf(r rules.Rule, now store.Snapshot, on *store.Line) (transition, error) {
	var a transition
	var err error
	switch r.Action() {
	case rules.AskHuman:
		question := questionOf(r, now.Task, on)
		a = e.Session(Caller{Role: state.Engine, Agent: itself}).asking(question, question, state.Engine, nil)
	case rules.Consult:
		a, err = e.consulting(r, now, on)
	case rules.Approve:
		a = transition{event: state.Approve, note: now.Task.Submission.ID + " by a rule of the project"}
	case rules.Executor:
		agent, model := r.Agent()
		a = transition{event: state.Reassign, note: strings.TrimPrefix(r.Then, rules.Executor+" "), apply: func(now store.Snapshot, next *state.Task) {
			next.Assigned = state.Assigned{Agent: agent, Model: model, Off: now.Journal.Bytes, Was: cmp.Or(now.Task.Session, now.Task.Submission.Session)}
		}}
	default:
		err = fmt.Errorf("a rule does %q, which is unknown", r.Then)
	}
	a.as, a.rule, a.on = state.Engine, r.String(), on
	a.check = func(is store.Snapshot) error { return cmp.Or(unmoved(now)(is), e.refuseWhileChecking(is)) }
	return a, err
}

// questionOf is what a rule asks a person.
func questionOf(r rules.Rule, t state.Task, on *store.Line) string {
	switch {
	case r.When.Errors > 0:
		_, why, _ := strings.Cut(on.Note, couldNotRun)
		return refusal.OnBranch(t.Branch, "The checks could not be run%s.\n\n%s\n\nPlease fix this, then answer; "+
			"if ferrus.toml had to change, run ferrus config accept{branch} first.", format.InARow(t.Check.Errors), cmp.Or(why, on.Note))
	case r.When.Moved > 0:
		return fmt.Sprintf("The same files changed, or new ones came, while the checks ran%s, so that their result does not count.\n\n%s\n\n%s\n\n"+
			"Then answer. If somebody else writes these files, stop that first.", format.InARow(t.Check.Moved), on.Note, checkrun.WrittenDuring(t.Check).Remedy(t.Branch, checkrun.TheChecks, checkrun.IgnoreFile))
	case r.When.Same > 0:
		return refusal.OnBranch(t.Branch, "The same check failed%s.\n\n%s\n\nShould the executor continue, and with which hint? "+
			"ferrus reset{branch} gives the task up.", format.InARow(t.Check.Same), on.Note)
	}
	return fmt.Sprintf("A rule of ferrus.toml asks you after %s: %s.\n\n%s\n\nWhat should the agents do? They continue with your answer.",
		on.Event, r, about(t, on))
}

// about says in one line what happened in a line.
func about(t state.Task, on *store.Line) string {
	if on.Event == state.Submit {
		return "The submission " + t.Submission.ID + " waits for a review."
	}
	return cmp.Or(on.Note, "It has no note.")
}

// consulting is the consultation by which a rule asks the supervisor.
func (e *Engine) consulting(r rules.Rule, now store.Snapshot, on *store.Line) (transition, error) {
	t := now.Task
	tried := fmt.Sprintf("%s since the last passed one or review, %d in a row with the same failure; %s.",
		format.Count(t.CheckRetries, "failed check", "failed checks"), t.Check.Same, format.Count(t.ReviewCycles, "rejection", "rejections"))
	last, err := handover.ReadLastCheck(e.store, e.place.Dir(), now)
	if err != nil {
		return transition{}, err
	}
	if last != nil {
		for _, c := range last.Failures {
			tried += fmt.Sprintf("\n\n%s: %s\n%s", c.Line, c, format.OneLine(c.Tail, maxNote))
		}
	}
	in := Consulting{
		Problem:  fmt.Sprintf("ferrus asks by a rule of ferrus.toml, not the executor: %s.\n\n%s", r, about(t, on)),
		Tried:    tried,
		Question: "What should the executor do next?",
	}
	doc, err := in.render()
	return in.act(doc), err
}
