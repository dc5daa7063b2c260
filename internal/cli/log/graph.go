package log

import (
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A fork is a branch where it leaves the log.
type fork struct {
	name string
	at   string // the hash of the line after which it goes on by itself
	task state.Task
}

// forks are the branches of a project by the hashes of the lines after which they go on by themselves. One that cannot be
// read, or has another task by now, is none: the log is whole without it.
func forks(e *engine.Engine) map[string][]fork {
	names, err := project.Branches(e.Place().Root)
	if err != nil {
		return nil
	}
	at := map[string][]fork{}
	for _, name := range names {
		if name == e.Place().Branch {
			continue
		}
		if f, ok := forkOf(e, name); ok {
			at[f.at] = append(at[f.at], f)
		}
	}
	return at
}

func forkOf(e *engine.Engine, name string) (fork, bool) {
	b, err := branch.Open(e, name)
	if err != nil {
		return fork{}, false
	}
	defer b.Close()
	now, err := b.View()
	if err != nil || now.Task.TaskID == "" {
		return fork{}, false
	}
	for l, err := range b.Store().HistoryFrom(now.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			break
		}
		if l.Event == state.Branch && l.State.Branch == name {
			return fork{name, l.Prev, now.Task}, true
		}
	}
	return fork{}, false
}

// share marks what a branch has in common with where it comes from: all before its own first event.
func share(list []status.Event, branch string) {
	own := false
	for i := len(list) - 1; i >= 0; i-- {
		list[i].Shared = own
		own = own || branch != "" && list[i].Event == state.Branch && list[i].State.Branch == branch
	}
}

// leaves shows the branches that leave the log after an event.
func leaves(a *cli.App, list []fork) {
	for _, f := range list {
		text := string(f.task.State)
		if f.task.Merged != "" {
			text += ", merged"
		}
		a.Say("    ├─ %s  %s\n", f.name, a.Paint(cli.StateColour[f.task.State], text))
	}
}

// gutter is what stands before an event, and the colour of who did it.
func gutter(p status.Event) (mark, colour string) {
	switch {
	case p.Left:
		return "┆", cli.Dim
	case p.Shared:
		return "│", cli.Dim
	}
	return " ", cli.RoleColour[p.Actor.Role]
}

// marks adds to an event's JSON where it stands in the graph.
func marks(p status.Event, l map[string]any, forks []fork) {
	if p.Left {
		l["abandoned"] = true
	}
	if p.Shared {
		l["shared"] = true
	}
	var names []string
	for _, f := range forks {
		names = append(names, f.name)
	}
	if names != nil {
		l["branches"] = names
	}
}
