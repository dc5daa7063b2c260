package ui

import (
	"context"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/ui/terminal"
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

// projects read all projects for a screen.
type projects struct {
	app   *cli.App
	inbox *status.Inbox[terminal.Project]
}

func newProjects(a *cli.App, ctx context.Context) *projects {
	return &projects{a, status.NewInbox(ctx, func(ctx context.Context, m project.Member) (p terminal.Project, err error) {
		if p.Overview, err = status.ReadOverview(ctx, m.Root, status.Options{Open: a.OpenToReadAt, Merges: true}); err == nil {
			err = p.Overview.Busy
		}
		if err == nil {
			if why := readOnly(a, m.Root, "ui --all"); why != nil {
				done := a.Outcome(why)
				p.Why, p.Remedy = done.Message, status.CommandIn(m.Root, done.Remedy)
			}
		}
		return p, err
	})}
}

// Rows reads all projects.
func (p *projects) Rows() ([]status.Row[terminal.Project], error) {
	members, err := project.Members()
	if err != nil {
		return nil, err
	}
	return p.inbox.Read(members), nil
}

// Changed is closed when something may have changed.
func (p *projects) Changed() <-chan struct{} { return p.inbox.Changed() }

// Open opens a project.
func (p *projects) Open(m project.Member) terminal.Source {
	r := newReader(p.app, m.Root)
	r.may = func() error { return readOnly(p.app, m.Root, "ui --all") }
	return r
}

// Explain is what an error says, and what helps.
func (p *projects) Explain(err error) (message, remedy string) {
	done := p.app.Outcome(err)
	return done.Message, done.Remedy
}
