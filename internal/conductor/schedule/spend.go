package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Others returns what the conductor of e's task needs as its Options.Others: the budget is that of the whole family.
func Others(e *engine.Engine) func() (total, since records.Spend, err error) {
	return (&family{e: e}).others
}

// Hold returns what the conductors of the delegates of e's task need as their Options.Hold.
func Hold(e *engine.Engine) func() string { return (&family{e: e}).hold }

// others returns what the agents of the delegates have used, in all and since a person last renewed the budget of the task. Of what
// cannot be read it counts what was known last, and returns the error.
func (f *family) others() (total, since records.Spend, err error) {
	now, err := f.e.View()
	if err != nil {
		return total, since, err
	}
	at, err := f.renewed(now.Task)
	for _, d := range now.Task.Delegates {
		runs, wrong := f.runs(d)
		err = errors.Join(err, wrong)
		total = total.Plus(records.SpendOf(runs, time.Now()))
		since = since.Plus(records.SpendOf(begunAfter(runs, at), time.Now()))
	}
	return total, since, err
}

// begunAfter returns the runs that began after a time.
func begunAfter(runs []process.Run, at time.Time) []process.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r process.Run) bool { return !r.Started.After(at) })
}

// runs returns the runs of the agents of a delegate; with an error, those that were known last. A branch that was removed has none.
func (f *family) runs(d state.Delegate) ([]process.Run, error) {
	list, err := f.readRuns(d)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		return f.known[d.ID], fmt.Errorf("what delegate %s has used cannot be read: %w", d.ID, err)
	}
	if f.known == nil {
		f.known = map[string][]process.Run{}
	}
	f.known[d.ID] = list
	return list, nil
}

func (f *family) readRuns(d state.Delegate) ([]process.Run, error) {
	b, err := delegate.Open(f.e, d)
	if refusal.CodeOf(err) == refusal.UnknownBranch {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.Close()
	now, err := b.View()
	if err != nil || now.Task.TaskID == "" {
		return nil, err
	}
	list, err := conductor.AllRuns(context.Background(), b, now.Task.TaskID)
	if err != nil {
		return nil, err
	}
	for i, r := range list {
		if !r.Over() && r.Node == "" {
			list[i].Usage = f.used(d, r)
		}
	}
	return list, nil
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

// renewed returns when a person last renewed the budget of a task, the zero time if never.
func (f *family) renewed(t state.Task) (time.Time, error) {
	if t.BudgetFrom == 0 {
		return time.Time{}, nil
	}
	l, err := f.e.Store().LineAt(t.BudgetFrom)
	if err != nil {
		return time.Time{}, err
	}
	return l.At, nil
}

// hold returns why no agent of a delegate may run: the budget is that of the whole family, and a person is asked once, at the
// task. A budget that cannot be read holds them too.
func (f *family) hold() string {
	why, err := f.overBudget()
	if err != nil {
		return "the budget of the task cannot be read: " + err.Error()
	}
	return why
}

func (f *family) overBudget() (string, error) {
	now, err := f.e.View()
	if err != nil || now.Task.TaskID == "" {
		return "", err
	}
	gate, err := f.e.Gate(now)
	if err != nil {
		return "", err
	}
	l := gate.Limits
	if l.MaxTaskMinutes == 0 && l.MaxTaskTokens == 0 && l.MaxTaskDollars == 0 {
		return "", nil
	}
	runs, err := conductor.AllRuns(context.Background(), f.e, now.Task.TaskID)
	if err != nil {
		return "", err
	}
	at, err := f.renewed(now.Task)
	if err != nil {
		return "", err
	}
	_, since, err := f.others()
	if err != nil {
		return "", err
	}
	return conductor.OverBudget(l, records.SpendOf(begunAfter(runs, at), time.Now()).Plus(since)), nil
}
