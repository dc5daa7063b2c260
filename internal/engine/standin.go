package engine

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// StandIn records which agent of its list works for a duty from now on. It is refused with WrongState if anything has happened since the snapshot.
func (e *Engine) StandIn(ctx context.Context, at store.Snapshot, in state.StandIn) error {
	_, err := e.Session(Caller{Role: state.Engine, Agent: itself}).commit(ctx, transition{event: state.Fallback, as: state.Engine,
		note: in.Duty + ": " + in.Variant().String(), check: unmoved(at),
		apply: func(_ store.Snapshot, next *state.Task) { next.SetStandIn(in) }})
	return err
}

// unmoved refuses an act if anything has happened since a snapshot.
func unmoved(at store.Snapshot) func(store.Snapshot) error {
	return func(now store.Snapshot) error {
		if now.Task.Seq == at.Task.Seq {
			return nil
		}
		return &refusal.RefusedError{Code: refusal.WrongState, Message: "the task has moved on", Remedy: "look at it again"}
	}
}
