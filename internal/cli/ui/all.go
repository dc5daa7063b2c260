package ui

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
)

// refuseAgents refuses a view of all projects to an agent of any of them. A project that does not answer in time is asked again before
// anything is done in it.
func refuseAgents(a *cli.App, verb string) error {
	members, err := project.Members()
	if err != nil {
		return err
	}
	refused := make(chan error, len(members))
	for _, m := range members {
		go func() { refused <- a.RefuseAgentOf(m.Root, verb) }()
	}
	late := time.After(status.Slow)
	for range members {
		select {
		case err := <-refused:
			if err != nil {
				return err
			}
		case <-late:
			return nil
		}
	}
	return nil
}

// readOnly returns why nothing may be done in one of several projects: an agent of it calls, it was not made here, or the person has not
// agreed to its files as they are now.
func readOnly(a *cli.App, root, verb string) error {
	if err := a.RefuseAgentOf(root, verb); err != nil {
		return err
	}
	e, err := a.OpenToReadAt(project.At(root, ""))
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.Foreign(); err != nil {
		return err
	}
	return e.Trusted()
}
