package conductor

import (
	"context"
	"errors"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor/leader"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// start starts the missing agent, unless the checks raise a question first.
func (c *conductor) start(ctx context.Context, f Facts, act Act) (again bool, err error) {
	c.park = ""
	if who := choose(f, act.Duty); who.news(f.Task) {
		err := c.e.StandIn(ctx, f.Snapshot, who.In)
		if err == nil {
			c.say(Event{Kind: FellBack, Duty: act.Duty, Agent: who.In.Agent, Text: StandInText(who.In)})
		} else if refusal.CodeOf(err) == refusal.WrongState {
			err = nil
		}
		return err == nil, err
	}
	order, why, err := c.order(f, act)
	if err != nil {
		return false, err
	}
	question, err := c.try(ctx, f, act, order)
	if c.Until.Passed(c.Now()) && question.Text == "" && err == nil {
		return true, nil
	}
	if question.Text == "" && err == nil {
		err = c.post.Begin(ctx, f.Task.TaskID, &order, c.alone)
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, ErrLost):
		return false, nil // the run ends
	case errors.Is(err, leader.ErrFilesElsewhere):
		return true, c.fetchFiles(ctx)
	case err != nil:
		return false, err
	case question.Text != "":
		return c.ask(ctx, f, question)
	}
	run, err := process.Start(order)
	switch {
	case errors.Is(err, process.ErrTaken): // by one that works, or that has ended since the facts were read
		return true, nil
	case err != nil:
		// A failed start is recorded, so that the rules count it. Otherwise they would start again
		// and again.
		list, unread := process.Runs(order.Runs)
		if unread != nil || process.Next(list, order.Run.Duty) <= order.Number {
			return false, err
		}
		return true, nil
	}
	c.reported[toldAs(run)] = true
	c.goesOn()
	c.say(Event{Kind: Started, Duty: run.Duty, Agent: run.Agent, Run: run.Name, Text: run.Log, Why: why, Sandbox: run.Sandbox, Outside: run.Outside})
	return true, nil
}

// try runs the checks where that comes before an agent: once before an executor in a sandbox, whether they can work in theirs; and before a
// reviewer on another computer than the executor's, whether they pass there too. The question says why the agent is not started; it is the zero value for none. The
// error is leader.ErrFilesElsewhere where the files must be brought first.
func (c *conductor) try(ctx context.Context, f Facts, act Act, order process.Order) (question checkrun.Question, err error) {
	if order.Inside != nil {
		question, err = c.e.TrySandbox(ctx, f.Gate, func(sandbox string) { c.say(Event{Kind: Trying, Sandbox: sandbox}) })
	}
	if question.Text != "" || err != nil || act.Duty != agents.Reviewer || c.post == nil {
		return question, err
	}
	if err := c.post.Look(ctx); err != nil {
		return question, err
	}
	if c.post.Moved() {
		return question, leader.ErrFilesElsewhere
	}
	return c.e.Runner().Confirm(ctx, f.Snapshot, f.Gate, func() { c.say(Event{Kind: Confirming}) })
}
