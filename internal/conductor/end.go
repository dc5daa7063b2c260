package conductor

import (
	"context"
	"errors"

	"github.com/ferrus-go/ferrus/internal/engine"
)

// stop ends the agents, because the conductor was stopped.
func (c *conductor) stop() (Outcome, error) {
	c.say(Event{Kind: Stopping})
	f, err := c.clear()
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Snapshot: f.Snapshot, Runs: f.Runs}, ErrStopped
}

// finish waits until the agents have exited, ends the remaining ones, and returns the outcome.
func (c *conductor) finish(ctx context.Context, f Facts, act Act) (Outcome, error) {
	patience := c.Patience.Leaving
	if act.Exit == ExitLate {
		patience = 0 // they had their time
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, duty := range conducted {
		if s := c.slot(duty); f.Slots[duty].Taken {
			select {
			case <-s.Freed():
			case <-ctx.Done():
			}
		}
	}
	after, err := c.clear()
	if err != nil {
		return Outcome{}, err
	}
	c.notify(after)
	return Outcome{Snapshot: after.Snapshot, Exit: act.Exit, Runs: after.Runs}, nil
}

// clear ends the remaining agents, and reports the state after that.
func (c *conductor) clear() (Facts, error) {
	if err := EndAll(context.Background(), c.e); err != nil {
		return Facts{}, err
	}
	f, err := c.gather()
	if err != nil {
		return Facts{}, err
	}
	c.tell(f, false)
	return f, nil
}

// EndAll ends every agent that a conductor has started for the engine's task.
func EndAll(ctx context.Context, e *engine.Engine) error {
	var errs []error
	for _, duty := range conducted {
		errs = append(errs, Slot(e, duty).Stop(ctx))
	}
	return errors.Join(append(errs, putBack(ctx, e))...)
}
