package conductor

import (
	"context"
	"slices"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Turn is a single decision about a task. It is made from the facts at the call of Look, and
// carried out by Take. Until Close no other conductor works on the task.
type Turn struct {
	Facts
	Act  Act
	Done bool // Take has carried it out; false: there was nothing to do, or the task had changed

	c *conductor
}

// Look decides once about the task of the engine, as a non-interactive run would. The error is a
// *BusyError when a conductor works on the task.
func Look(e *engine.Engine, opts Options) (*Turn, error) {
	if err := e.Known(); err != nil {
		return nil, err
	}
	opts.Headless = true
	t := &Turn{c: newConductor(e, opts)}
	t.c.alone = "" // its agents work on until the next decision
	ctx := context.Background()
	if err := t.c.take(ctx); err != nil {
		return nil, err
	}
	err := t.c.fetchFiles(ctx)
	if err == nil {
		t.Facts, err = t.c.gather()
	}
	if err != nil {
		t.c.leave()
		return nil, err
	}
	t.Act = single(t.Facts)
	return t, nil
}

// single is decide for one decision: where a run would be over, and would wait for its agents, it
// leaves them the time to exit that the run does, and then ends them one by one.
func single(f Facts) Act {
	act := decide(f)
	if act.Do != finish {
		return act
	}
	for _, name := range conducted {
		d := duty{Facts: f, SlotFacts: f.Slots[name], name: name}
		if !d.Taken {
			continue
		}
		if d.sinceMove() > d.Leaving {
			return Act{Do: end, Duty: name, Why: "the task is " + string(d.Task.State) + " and does not need it"}
		}
		if until := d.moved().Add(d.Leaving); act.Do == finish || until.Before(act.Until) {
			act = Act{Do: keep, Duty: name, Until: until}
		}
	}
	return act
}

// Duties returns the duties for which a conductor starts agents.
func Duties() []agents.Duty { return slices.Clone(conducted) }

// Busy reports whether an agent worked on the task when the facts were gathered.
func (t *Turn) Busy() bool {
	for _, s := range t.Slots {
		if s.Taken {
			return true
		}
	}
	return false
}

// Starts reports whether the decision is to start an agent.
func (t *Turn) Starts() bool { return t.Act.Do == start }

// Postpone makes the decision one to wait.
func (t *Turn) Postpone(why string) { t.Act = Act{Do: park, Duty: t.Act.Duty, Why: why} }

// Take carries the decision out, unless the task has changed since Look: then the next step decides
// anew. It returns when an agent that it starts runs.
func (t *Turn) Take(ctx context.Context) error {
	now, err := t.c.e.View()
	if err != nil {
		return err
	}
	if now.Task.Seq != t.Task.Seq || now.Task.TaskID != t.Task.TaskID {
		return nil
	}
	if byDay(t.Facts, t.Act) {
		t.c.tellPerson(t.Facts, t.Day.Item(t.c.e.Place().Root))
	}
	if t.Act.Do == finish || t.Task.State == state.AwaitingHuman {
		t.c.notify(t.Facts)
	}
	if t.Act.Do != start && t.Act.Do != end && t.Act.Do != ask {
		return nil
	}
	t.c.seen = t.Slots
	t.Done, err = t.c.carryOut(ctx, t.Facts, t.Act)
	return err
}

// Close lets other conductors work on the task again.
func (t *Turn) Close() error {
	t.c.leave()
	return nil
}
