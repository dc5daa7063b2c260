package conductor

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
)

// confined returns the sandbox of an agent, nil if it has none, and fits what it is started with to it. Where an executor that can
// have one has none, it returns why. Agents of other duties have none: they get no tools that write.
func confined(f Facts, place project.Place, adapter agents.Adapter, spec *agents.LaunchSpec) (*confine.Order, string, error) {
	if spec.Duty != agents.Executor {
		return nil, "", nil
	}
	p, err := plan.Of(context.Background(), plan.Executor{Gate: f.Gate, Place: place, Work: spec.Work, Ferrus: spec.Ferrus, Environ: spec.Environ, Agent: adapter})
	if err != nil || p.Order == nil {
		return nil, p.Outside, err
	}
	outside, order := *spec, p.Order
	spec.Ticket, spec.Home, spec.Scratch, spec.Environ, spec.Work = order.Folder.Ticket(), order.Home(), order.Folder.In(), p.Environ, order.Work
	order.Server, order.ServerEnv = adapter.Server(outside), outside.ServerEnv(adapter.Name)
	return order, "", nil
}

// putBack puts the work tree back as it was where the shim of an executor in a sandbox was killed before it could, after the end of
// what that executor has left behind. No executor runs.
func putBack(ctx context.Context, e *engine.Engine) error {
	folder := confine.Of(e.Place().Path())
	if !folder.Entered() {
		return nil
	}
	if err := Slot(e, agents.Executor).Stop(ctx); err != nil {
		return err
	}
	_, err := folder.Restore()
	return err
}
