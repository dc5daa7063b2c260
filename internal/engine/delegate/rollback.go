package delegate

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Rollback returns the task of a person's session to an earlier entry, and its delegates with it: one that began later is
// removed, as ferrus branch --remove does, and one that was open there returns to the entry that it had come to then, with its
// files. With files the work of the task itself returns, too. fenced ends the agents. A call that was cut off is finished by the
// same one.
func Rollback(ctx context.Context, s *engine.Session, to uint64, reason string, files bool, fenced func() error) (engine.Rolled, error) {
	e := s.Engine()
	now, err := e.View()
	if err != nil {
		return engine.Rolled{}, err
	}
	act := s.RollbackFiles
	if !files {
		act = s.RollbackFenced
		if len(now.Task.Delegates) == 0 && now.Task.Returning == (state.FileMove{}) {
			done, err := s.Rollback(ctx, to, reason)
			if err == nil {
				err = fenced()
			}
			return engine.Rolled{Done: done}, err
		}
	}
	return act(ctx, to, reason, func() error {
		if err := fenced(); err != nil {
			return err
		}
		return withdraw(ctx, s, to, reason)
	})
}

// withdraw takes the delegates of the task back to what they were at an entry. It finds what is already done.
func withdraw(ctx context.Context, s *engine.Session, to uint64, reason string) error {
	now, err := s.Engine().View()
	if err != nil {
		return err
	}
	was, err := s.Engine().Entry(now, to)
	if err != nil {
		return err
	}
	for _, d := range now.Task.Delegates {
		old, there := was.State.Delegate(d.ID)
		c, err := Look(s.Engine(), d)
		if err != nil {
			return err
		}
		switch {
		case c.Phase == Gone && c.Snap.Task.Seq == 0, c.Phase == Unmade && c.Snap.Task.Seq == 0: // it is not there
		case c.Snap.Task.Parent != parentOf(s.Engine(), c): // it is another's
		case !there:
			if _, err := branch.Remove(ctx, s, d.Branch, true); err != nil && refusal.CodeOf(err) != refusal.UnknownBranch {
				return err
			}
		case old.Open():
			if err := back(ctx, s, old, reason); err != nil {
				return err
			}
		}
	}
	return nil
}

// parentOf is what the first line of a delegate says if it is one of e's task.
func parentOf(e *engine.Engine, c Child) state.Parent {
	return state.Parent{Branch: e.Place().Branch, Seq: c.Snap.Task.Parent.Seq, ID: c.ID}
}

// begun is the entry of a branch in which its task is created: what is before it is the making of the branch.
const begun = 2

// back returns a delegate to the entry that it had come to.
func back(ctx context.Context, s *engine.Session, old state.Delegate, reason string) error {
	b, err := Open(s.Engine(), old)
	if err != nil {
		return err
	}
	defer b.Close()
	now, err := b.View()
	if err != nil {
		return err
	}
	to := max(begun, old.Seq)
	if now.Task.TaskID == "" || now.Task.Seq <= to || returned(now, to) { // one that was reset is lost
		return nil
	}
	caller := s.Caller
	caller.On = engine.Subject{} // that is about the other task
	_, err = b.Session(caller).RollbackFiles(ctx, to, fmt.Sprintf("The task that this is a part of was rolled back: %s", reason), nil)
	var gone *refusal.RefusedError
	if errors.As(err, &gone) && gone.Code == refusal.InvalidInput { // its task is another one since: it is lost
		return nil
	}
	return err
}

// returned reports whether a machine has just been rolled back to an entry.
func returned(now store.Snapshot, to uint64) bool {
	return now.Top != nil && now.Top.Event == state.Rollback && now.Top.Back == to
}
