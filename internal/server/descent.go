package server

import (
	"context"
	"os"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// checkDescent refuses a server that could decide about the work of an agent from which it
// descends: a supervisor's server, and one over HTTP, which serves supervisors, too. If the project
// cannot be found yet, this is repeated when it is opened. The error is a *engine.RefusedError of
// code ForbiddenRole.
func (c Config) checkDescent() error {
	place, err := c.place()
	if err != nil {
		return nil
	}
	return c.refuseDescent(place)
}

func (c Config) refuseDescent(place project.Place) error {
	if c.Role != state.Supervisor && !c.HTTP.on() {
		return nil
	}
	agent, ok := proc.ExecutorAbove(place.Root)
	if !ok {
		return nil
	}
	what := "a supervisor's server"
	if c.HTTP.on() {
		what = "a server over HTTP"
	}
	return &refusal.RefusedError{Code: refusal.ForbiddenRole, Person: true,
		Message: what + " does not start below the agent " + agent.String() + ", whose work it would review",
		Remedy:  "start it from a terminal or a client of your own that this agent did not start"}
}

// place returns the place of the machine that the server is for.
func (c Config) place() (project.Place, error) {
	dir := c.Root
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return project.Place{}, err
		}
	}
	place, err := project.Find(context.Background(), dir)
	if err != nil || c.Branch == "" {
		return place, err
	}
	return place.On(c.Branch)
}
