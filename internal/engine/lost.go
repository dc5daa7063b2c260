package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// leaseLost returns the refusal of who held the work and does not now. l is the line that took it away, nil where it is not known.
func leaseLost(l *store.Line) error {
	how := "the lease was taken away"
	if l != nil {
		at := l.At.Local().Format(time.TimeOnly)
		switch l.Event {
		case state.Claim:
			how = fmt.Sprintf("%s took this work over at %s because %s", l.State.ClaimedBy, at, cmp.Or(l.Note, "no agent had claimed it"))
		case state.Reset:
			how = "a person reset the task at " + at
		case state.Release:
			how = "a person released the work at " + at
		case state.Reassign:
			how = fmt.Sprintf("a rule of the project gave the work to %s at %s", l.State.Assigned.Agent, at)
		case state.RollbackBegun, state.Rollback:
			how = fmt.Sprintf("a person rolled the task back to entry %d at %s", l.Back, at)
		}
	}
	return &refusal.RefusedError{Code: refusal.LeaseLost, Message: how + ". Stop, and do not edit further", Remedy: "call wait_for_task to wait for new work"}
}

// notClaimed returns the refusal of a session that never held the work. holder is who does, "" for nobody; remote tells that the
// caller came over the network.
func notClaimed(holder string, remote bool) error {
	who := "no agent has claimed it now"
	if holder != "" {
		who = "it is claimed by " + holder
	}
	if remote {
		return &refusal.RefusedError{Code: refusal.NotClaimed, Message: "this call does not name the claim of the work; " + who,
			Remedy: "name the claim that wait_for_task gave you, or call it to get one"}
	}
	return &refusal.RefusedError{Code: refusal.NotClaimed, Message: "this session has not claimed the work; " + who, Remedy: "call wait_for_task first"}
}
