package ui

import (
	"context"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/ui/terminal"
)

// allNote is what the reference says of --all.
const allNote = `--all is about the projects of this computer whose files you have agreed to, in
any folder. docs/web.md says how one joins and leaves. (The --all of ferrus
status is about all branches of one project.)`

// A doorkeeper says what a view of all projects may do in each. The processes above this one are looked at once.
type doorkeeper struct {
	app   *cli.App
	verb  string
	above func(root string) (proc.Agent, bool)
}

func newDoorkeeper(a *cli.App, verb string) doorkeeper { return doorkeeper{a, verb, proc.AboveHere()} }

// start refuses the view to an agent of any of the projects. One that does not answer in time is asked again before anything is done in it.
func (g doorkeeper) start() error {
	members, err := project.Members()
	if err != nil {
		return err
	}
	refused := make(chan error, len(members))
	for _, m := range members {
		go func() { refused <- cli.RefuseAgentOf(m.Root, g.verb, g.above) }()
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

// may returns why nothing may be done in a project: an agent of it has started this process, it was not made here, or the person has not agreed
// to its files as they are now.
func (g doorkeeper) may(root string) error {
	if err := cli.RefuseAgentOf(root, g.verb, g.above); err != nil {
		return err
	}
	e, err := g.app.OpenToReadAt(project.At(root, ""))
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
	doors doorkeeper
}

func newProjects(ctx context.Context, g doorkeeper) *projects {
	a := g.app
	return &projects{a, status.NewInbox(ctx, func(ctx context.Context, m project.Member) (p terminal.Project, err error) {
		if p.Overview, err = status.ReadOverview(ctx, m.Root, status.Options{Open: a.OpenToReadAt, Merges: true}); err == nil {
			err = p.Overview.Busy
		}
		if err == nil {
			if why := g.may(m.Root); why != nil {
				done := a.Outcome(why)
				p.Why, p.Remedy = done.Message, status.CommandIn(m.Root, done.Remedy)
			}
		}
		return p, err
	}), g}
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
	r.may = func() error { return p.doors.may(m.Root) }
	return r
}

// Explain is what an error says, and what helps.
func (p *projects) Explain(err error) (message, remedy string) {
	done := p.app.Outcome(err)
	return done.Message, done.Remedy
}
