package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/project"
)

// open opens the branches that are not open yet. One that cannot be opened has an act that says so.
func (s *step) open() error {
	names, err := project.Branches(s.e.Place().Root)
	if err != nil {
		return err
	}
	for _, name := range names {
		if s.engines[name] != nil {
			continue
		}
		e, err := branch.Open(s.e, name)
		if err == nil {
			s.engines[name] = e
			continue
		}
		if !slices.ContainsFunc(s.acts, func(a *act) bool { return a.Name == name }) {
			d := Decision{Kind: Branch, Name: name, Do: skip}
			d.fail(err)
			s.acts = append(s.acts, &act{Decision: d})
		}
	}
	return nil
}

// settle brings the delegates of a task as far as its journal says, as a run does. What it makes is
// there when the step decides.
func (s *step) settle(ctx context.Context, e *engine.Engine) error {
	now, err := e.View()
	if err != nil || now.Task.IsDelegate() {
		return nil // its decision says so
	}
	return delegate.Settle(ctx, e, nil)
}

// relate gives the conductor of a task its part of the budget of the family. It reports whether the
// task is to be conducted: a delegate is while its parent waits for it.
func (s *step) relate(ctx context.Context, e *engine.Engine, opts *conductor.Options) (bool, error) {
	now, err := e.View()
	if err != nil {
		return false, err
	}
	if !now.Task.IsDelegate() {
		opts.Others = Others(e)
		return true, nil
	}
	parent := s.engines[now.Task.Parent.Branch]
	if parent == nil {
		return false, fmt.Errorf("the task that delegated it, on %s, cannot be read", now.Task.Parent.Branch)
	}
	// A run conducts the delegates of its task as well, and looks again only when that task changes.
	if other, busy := conductor.Conductor(parent.Place().Path()); busy && other.Pid != os.Getpid() {
		return false, &conductor.BusyError{Holder: other}
	}
	opts.Hold = Hold(parent)
	list, err := delegate.Children(ctx, parent)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list, func(c delegate.Child) bool {
		return c.Branch == e.Place().Branch && c.Open() && (c.Phase == delegate.Working || c.Phase == delegate.Submitted || c.Phase == delegate.Asking)
	}), nil
}

// dismiss returns the act that ends the agents of a delegate that nobody waits for; nil where there
// are none.
func (s *step) dismiss(name string, e *engine.Engine) *act {
	for _, d := range conductor.Duties() {
		if _, taken := conductor.Slot(e, d).Taken(); !taken {
			continue
		}
		return &act{Decision: Decision{Kind: Branch, Name: name, Do: end, Duty: string(d), Why: noParent},
			do: func(ctx context.Context, d *Decision) { d.fail(conductor.EndAll(ctx, e)) }}
	}
	return nil
}

// close ends the use of all locks and branches.
func (s *step) close() error {
	for _, a := range s.acts {
		a.free()
	}
	var errs []error
	for name, e := range s.engines {
		if name != "" {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}
