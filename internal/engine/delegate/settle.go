package delegate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// lockFile lets one process at a time settle the delegates of a machine.
const lockFile = "live/delegates.lock"

// again is how often a process asks for that lock.
const again = 20 * time.Millisecond

// Settle brings every open delegate of e's task as far as the journal says, until there is nothing left to do. holder is the
// session of the executor that holds the work, which alone begins to move files into its work tree; nil for any other caller.
// It waits for a process that is at it already.
func Settle(ctx context.Context, e *engine.Engine, holder *engine.Session) error {
	now, err := e.View()
	if err != nil || len(now.Task.OpenDelegates()) == 0 {
		return err
	}
	lock, err := hold(ctx, e)
	if err != nil {
		return err
	}
	defer lock.Close()
	for range most {
		if did, err := pass(ctx, e, holder); err != nil || !did || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	return fmt.Errorf("the delegates of %s do not come to rest", now.Task.TaskID)
}

// most is the number of passes after which what they do cannot be right.
const most = 1000

// hold takes the lock, or waits for it.
func hold(ctx context.Context, e *engine.Engine) (*filelock.Lock, error) {
	for {
		lock, err := e.Place().Lock(lockFile)
		if !errors.Is(err, filelock.ErrHeld) {
			return lock, err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// pass takes one step with each open delegate, and reports whether there was any.
func pass(ctx context.Context, e *engine.Engine, holder *engine.Session) (did bool, err error) {
	now, err := e.View()
	if err != nil {
		return false, err
	}
	if now.Task.Returning != (state.FileMove{}) && now.Task.Returning.Of == "" {
		return false, nil // a rollback or a merge of the executor's own machine comes first
	}
	for _, d := range now.Task.OpenDelegates() {
		c, err := Look(e, d)
		if err != nil {
			return did, err
		}
		moved, err := settling{e, holder, now, c}.step(ctx)
		if outdated(err) {
			return true, nil // somebody else was faster: look again
		}
		if err != nil {
			return did, err
		}
		did = did || moved
	}
	return did, nil
}

// outdated reports whether an error says that what was looked at has changed since.
func outdated(err error) bool {
	code := refusal.CodeOf(err)
	return code == refusal.WrongState || code == refusal.StaleReview || code == refusal.LeaseLost || code == refusal.NotClaimed
}

// A settling is one step with one delegate.
type settling struct {
	e      *engine.Engine
	holder *engine.Session
	now    store.Snapshot
	c      Child
}

// step does the first thing that is to be done.
func (s settling) step(ctx context.Context) (bool, error) {
	c := s.c
	moving := s.now.Task.Returning.Of
	switch {
	case moving != "" && moving != c.ID:
		return false, nil
	case moving == c.ID:
		return true, s.finish(ctx)
	case c.Merged != "":
		return true, s.complete(ctx)
	case c.Phase == Gone:
		return true, s.end(ctx, state.DelegateLost)
	case c.Phase == Stopped:
		return true, s.end(ctx, state.DelegateFailed)
	case c.Phase == Unmade:
		return true, s.make(ctx)
	case c.On == "" || c.On != c.Decided.On:
		return false, nil
	}
	switch c.Decided.What {
	case state.RuledAnswer:
		return true, s.tell(ctx, func(to *engine.Session, text string) error {
			_, err := to.Respond(ctx, text, c.On)
			return err
		})
	case state.RuledReject:
		return true, s.tell(ctx, func(to *engine.Session, text string) error {
			_, err := to.Reject(ctx, text, c.On)
			return err
		})
	}
	if s.holder == nil || !s.holder.Holds(s.now.Task) || !s.now.Task.State.InHand() {
		return false, nil // the executor begins to move files, and nobody else
	}
	return true, s.merge(ctx)
}

func (s settling) end(ctx context.Context, how state.DelegateEnd) error {
	_, err := s.e.EndDelegate(ctx, s.c.ID, how, clip(s.c.Why))
	return err
}

// child runs do with a session that supervises the delegate in the name of the executor whose line is at off.
func (s settling) child(off int64, do func(to *engine.Session, l *store.Line) error) error {
	b, err := Open(s.e, s.c.Delegate)
	if err != nil {
		return err
	}
	defer b.Close()
	l, err := s.e.Store().LineAt(off)
	if err != nil {
		return err
	}
	return do(b.Session(engine.Caller{Role: state.Supervisor, Agent: l.Actor.Agent}), l)
}

// tell passes on what the executor decided.
func (s settling) tell(_ context.Context, say func(to *engine.Session, text string) error) error {
	return s.child(s.c.Decided.Off, func(to *engine.Session, l *store.Line) error { return say(to, l.Docs[engine.DelegateDoc]) })
}

// make makes the branch of the delegate, and its task there. One that cannot be made has failed.
func (s settling) make(ctx context.Context) error {
	err := s.create(ctx)
	if code := refusal.CodeOf(err); err != nil && code != refusal.LockBusy && ctx.Err() == nil {
		s.c.Why = "it could not be started: " + err.Error()
		return s.end(ctx, state.DelegateFailed)
	}
	return err
}

func (s settling) create(ctx context.Context) error {
	c := s.c
	l, err := s.e.Store().LineAt(c.Off)
	if err != nil {
		return err
	}
	if c.Snap.Task.Seq == 0 {
		fork := branch.Fork{Names: []string{c.Branch}, Own: true, Tree: c.Base, Parent: state.Parent{Branch: s.e.Place().Branch, Seq: l.Seq, ID: c.ID},
			Variants: []state.Variant{c.Variant}}
		if _, err := branch.Create(ctx, s.e.Itself(), fork); err != nil {
			return err
		}
	}
	frozen, err := s.e.Frozen(s.now)
	if err != nil {
		return err
	}
	return s.child(c.Off, func(to *engine.Session, l *store.Line) error {
		_, err := to.CreateDelegated(ctx, l.Docs[engine.DelegateDoc], frozen, branch.SetUpTree(s.e, s.now))
		return err
	})
}

// merge moves approved work in. What git cannot merge goes back to the delegate.
func (s settling) merge(ctx context.Context) error {
	return s.child(s.c.Decided.Off, func(to *engine.Session, _ *store.Line) error {
		_, err := branch.MergeDelegate(ctx, s.holder, to, s.c.ID)
		if clash := (*branch.ConflictError)(nil); errors.As(err, &clash) {
			return branch.ReturnDelegate(ctx, s.holder, to, s.c.ID, clash)
		}
		return err
	})
}

// finish ends a move of files that any process began.
func (s settling) finish(ctx context.Context) error {
	by := s.holder
	if by == nil || !by.Holds(s.now.Task) {
		by = s.e.Itself()
	}
	return s.child(s.c.Decided.Off, func(to *engine.Session, _ *store.Line) error {
		_, err := branch.MergeDelegate(ctx, by, to, s.c.ID)
		return err
	})
}

// complete ends a delegate whose work is in. Its branch learns that first.
func (s settling) complete(ctx context.Context) error {
	if s.c.Phase == Submitted {
		err := s.child(s.c.Decided.Off, func(to *engine.Session, _ *store.Line) error {
			_, err := to.ApproveMerged(ctx, s.c.On, s.c.Merged)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.end(ctx, state.DelegateComplete)
}
