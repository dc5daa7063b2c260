package run

import (
	"context"
	"errors"
	"time"

	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/project/records"
)

// tries is how often in a row a tick may fail before the conductor gives up. The attempts are a
// second apart.
const tries = 5

// Conduct ticks whenever something may have changed, until the run is archived, only a person can
// continue it, or ctx ends. Workers continue when ctx ends. It returns the last action.
func (f *Folder) Conduct(ctx context.Context, o Options) (pipeline.Action, error) {
	o = o.orUsual()
	w := f.watch(f.signs())
	defer w.Close()
	failed := 0
	for {
		a, err := f.Tick(ctx, o)
		switch {
		case ctx.Err() != nil:
			return a, ctx.Err()
		case errors.Is(err, ErrGone):
			return a, err
		case err != nil:
			if failed++; failed >= tries {
				return a, err
			}
			o.Log.Warn("a tick failed and will be repeated", "error", err)
			w.wait(ctx, nil, o.Now().Add(time.Second))
			continue
		}
		failed = 0
		if a.Do == pipeline.Archive || a.Person && len(f.alive()) == 0 {
			return a, nil
		}
		if a.Row == pipeline.DayRow { // a person may lift the limit
			a.Until = o.Now().Add(records.Recheck)
		}
		w.wait(ctx, f.busy(), a.Until)
	}
}

// busy returns the workers that were running at the last record, and those that run now. If one of
// them has ended meanwhile, there is no reason to wait.
func (f *Folder) busy() []string {
	roles := f.alive()
	status, err := f.Status()
	if err != nil {
		return roles
	}
	for _, p := range status.Phases {
		for _, k := range p.Workers {
			if k.Status == pipeline.Running {
				roles = append(roles, k.Role)
			}
		}
	}
	return roles
}
