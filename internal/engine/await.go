package engine

import (
	"context"
	"time"

	"github.com/ferrus-go/ferrus/internal/store"
)

// await looks at the machine now and after each change, until look is done or wait is over; it returns what was seen
// last. The end of the holder's process counts as a change.
func (e *Engine) await(ctx context.Context, wait time.Duration, look func(store.Snapshot) (bool, error)) (store.Snapshot, error) {
	watch := e.store.Watch() // armed before the first look
	defer watch.Close()
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		snap, err := e.FollowRules(ctx) // before whatever is waited for
		if err != nil {
			snap, err = e.View() // the rule is the next writer's
		}
		if err != nil {
			return snap, err
		}
		if done, err := look(snap); done || err != nil {
			return snap, err
		}
		select {
		case <-watch.C:
		case <-e.death(snap):
		case <-over.C:
			return snap, nil
		case <-ctx.Done():
			return snap, ctx.Err()
		case <-e.ctx.Done():
			return snap, e.ctx.Err()
		}
	}
}

// death rings when the holder's process ends; nil, which never rings, when nobody holds the work or the holder is known
// to be dead.
func (e *Engine) death(snap store.Snapshot) <-chan struct{} {
	if snap.Task.ClaimedBy == "" || e.Verdict(snap).Dead {
		return nil
	}
	return e.store.SessionDone(snap.Task.Session)
}
