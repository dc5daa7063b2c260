package log

import (
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// leaves shows the branches that leave the log after an event.
func leaves(a *cli.App, list []status.Fork) {
	for _, f := range list {
		text := string(f.Task.State)
		if f.Task.Merged != "" {
			text += ", merged"
		}
		a.Say("    ├─ %s  %s\n", f.Name, a.Paint(cli.StateColour[f.Task.State], text))
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
func marks(p status.Event, l map[string]any, forks []status.Fork) {
	if p.Left {
		l["abandoned"] = true
	}
	if p.Shared {
		l["shared"] = true
	}
	var names []string
	for _, f := range forks {
		names = append(names, f.Name)
	}
	if names != nil {
		l["branches"] = names
	}
}
