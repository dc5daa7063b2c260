package family

import (
	"context"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/delegate"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Others returns what the conductor of e's task needs as its Options.Others: the budget is that of the whole family.
func Others(e *engine.Engine) func() (total, since conductor.Spend) { return (&family{e: e}).others }

// Hold returns what the conductors of the delegates of e's task need as their Options.Hold.
func Hold(e *engine.Engine) func() string { return (&family{e: e}).hold }

// others returns what the agents of the delegates have used, in all and since a person last decided something at the task.
func (f *family) others() (total, since conductor.Spend) {
	now, err := f.e.View()
	if err != nil {
		return total, since
	}
	at := f.spoken(now.Task)
	for _, d := range now.Task.Delegates {
		runs := f.runs(d)
		total = total.Plus(conductor.SpendOf(runs, time.Now()))
		var later []process.Run
		for _, r := range runs {
			if r.Started.After(at) {
				later = append(later, r)
			}
		}
		since = since.Plus(conductor.SpendOf(later, time.Now()))
	}
	return total, since
}

// runs returns the runs of the agents of a delegate; none where they cannot be read.
func (f *family) runs(d state.Delegate) []process.Run {
	b, err := delegate.Open(f.e, d)
	if err != nil {
		return nil
	}
	defer b.Close()
	now, err := b.View()
	if err != nil || now.Task.TaskID == "" {
		return nil
	}
	list, err := conductor.AllRuns(context.Background(), b, now.Task.TaskID)
	if err != nil {
		return nil
	}
	for i, r := range list {
		if !r.Over() && r.Node == "" {
			list[i].Usage = f.used(d, r)
		}
	}
	return list
}

// used returns what the live agent of a delegate reports to have used. It reads what was printed since the last call.
func (f *family) used(d state.Delegate, r process.Run) agents.Usage {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := d.ID + " " + r.Name
	if f.tails[key] == nil {
		if f.tails == nil {
			f.tails = map[string]*process.Tail{}
		}
		f.tails[key] = r.Tail()
	}
	f.tails[key].More()
	return f.tails[key].Usage
}

// spoken returns when a person last decided something about a task, the zero time if never.
func (f *family) spoken(t state.Task) time.Time {
	if len(t.Decisions) == 0 {
		return time.Time{}
	}
	l, err := f.e.Store().LineAt(t.Decisions[len(t.Decisions)-1].Off)
	if err != nil {
		return time.Time{}
	}
	return l.At
}

// hold returns why no agent of a delegate may run: the budget is that of the whole family, and a person is asked once, at the
// task.
func (f *family) hold() string {
	now, err := f.e.View()
	if err != nil || now.Task.TaskID == "" {
		return ""
	}
	gate, err := f.e.Gate(now)
	if err != nil {
		return ""
	}
	l := gate.Limits
	if l.MaxTaskMinutes == 0 && l.MaxTaskTokens == 0 && l.MaxTaskDollars == 0 {
		return ""
	}
	runs, err := conductor.AllRuns(context.Background(), f.e, now.Task.TaskID)
	if err != nil {
		return ""
	}
	at := f.spoken(now.Task)
	var own []process.Run
	for _, r := range runs {
		if r.Started.After(at) {
			own = append(own, r)
		}
	}
	_, since := f.others()
	return conductor.OverBudget(l, conductor.SpendOf(own, time.Now()).Plus(since))
}
