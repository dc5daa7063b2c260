package run

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
)

// A Turn is a single decision about a run. It is made from the facts at the call of Look, and
// carried out by Take. Until Close no tick advances the run.
type Turn struct {
	Action pipeline.Action

	f     *Folder
	b     *runState
	facts pipeline.Facts
	lock  *filelock.Lock
}

// Look decides once about the run. What the files say is recorded; nothing else is done.
func (f *Folder) Look(ctx context.Context, o Options) (*Turn, error) {
	o = o.orUsual()
	lock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	t := &Turn{f: f, b: &runState{f: f, o: o}, lock: lock}
	if f.archived() {
		err = ErrGone
	} else if err = t.b.open(o.Now()); err == nil {
		t.facts, t.Action, err = t.b.look(f.woke(o))
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return t, nil
}

// Take carries the decision out, and lets other processes tick.
func (t *Turn) Take(ctx context.Context) error {
	a, err := t.Action, error(nil)
	if a.Do == pipeline.Wait {
		t.f.tellDay(t.b.o, a)
		err = t.b.refuse(t.facts, a)
	} else if err = t.b.do(ctx, t.facts, a); err != nil {
		err = fmt.Errorf("%s: %w", a, err)
	}
	_ = t.Close()
	if err == nil && a.Do != pipeline.Archive {
		t.f.news(ctx, t.b.o)
	}
	return err
}

// Close lets other processes tick.
func (t *Turn) Close() error { return t.lock.Close() }

// look gathers the facts, restores outputs that a wrong worker has changed, records what the files
// say, and decides.
func (b *runState) look(woke time.Time) (pipeline.Facts, pipeline.Action, error) {
	for range steps {
		facts, err := b.f.facts(b.status, b.o.Now(), b.f.settle)
		if err != nil {
			return facts, pipeline.Action{}, err
		}
		facts.Woke = woke
		if again, err := b.guard(&facts); err != nil {
			return facts, pipeline.Action{}, err
		} else if again {
			continue
		}
		seen := pipeline.Reconcile(facts)
		if seen.Rev != b.status.Rev {
			if err := b.observe(facts, seen); err != nil {
				return facts, pipeline.Action{}, err
			}
		}
		facts.Status = seen
		a, err := b.f.decide(facts)
		return facts, a, err
	}
	return pipeline.Facts{}, pipeline.Action{}, b.f.unsettled()
}
