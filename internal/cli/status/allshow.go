package status

import (
	"cmp"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ShowOverview prints a project as a table, a line each.
func ShowOverview(a *cli.App, v *status.Overview) {
	for _, m := range v.Machines {
		name := m.Branch
		if name == "" {
			name = "project"
		}
		a.Say("%-14s %s  %-22s  %s\n", a.Name(name, 14), a.Paint(cli.ColourOf(m.State), format.Pad(string(m.State), 13)), m.TaskID, line(m))
	}
	if len(v.Needs) > 0 {
		a.Say("\nneeds you\n")
	}
	for _, n := range v.Needs {
		a.Say("  %-14s %s  →  %s\n", format.Clip(cmp.Or(n.Branch, n.Run, "project"), 14), n.Text, a.Paint(cli.Bold, n.Command))
	}
	if len(v.Pipelines) > 0 {
		a.Say("\npipelines\n")
	}
	for _, p := range v.Pipelines {
		a.Say("  %s  %s\n", a.Paint(cli.RunColour[p.State], p.Line()), a.Paint(cli.Dim, format.Clip(format.Line(p.Topic), 60)))
	}
	if len(v.Queue) > 0 {
		a.Say("\nqueue\n")
	}
	for _, t := range v.Queue {
		a.Say("  %-22s  %s\n", t.Name, format.Clip(t.Title, 60))
	}
	if len(v.Finished) > 0 {
		a.Say("\narchived pipeline runs\n")
	}
	for _, r := range v.Finished {
		a.Say("  %-30s  %s  %s\n", r.Run, a.Paint(cli.RunColour[r.State], format.Pad(r.Outcome(), 10)), r.About())
	}
	if len(v.Archived) > 0 {
		a.Say("\narchived\n")
	}
	for _, t := range v.Archived {
		where := ""
		if t.Branch != "" {
			where = "   (" + t.Branch + ")"
		}
		if t.Removed {
			where = "   (" + t.Branch + ", removed)"
		}
		day := format.Pad("", len(time.DateOnly))
		if !t.At.IsZero() {
			day = t.At.Local().Format(time.DateOnly)
		}
		a.Say("  %s  %-22s  %s  %s%s\n", day, t.TaskID, a.Paint(cli.StateColour[t.State], format.Pad(t.Outcome(), 10)), format.Clip(format.Line(t.Title+t.Error), 60), where)
	}
	if v.More > 0 {
		a.Say("  and %d more; ferrus status --all -n %d shows them\n", v.More, len(v.Archived)+v.More)
	}
}

// line is what there is to say about a machine beside its state.
func line(m status.Machine) string {
	if m.Error != "" {
		return "cannot be read: " + format.Line(m.Error)
	}
	text := format.Clip(format.Line(m.Title), 44)
	if m.Waits != "" {
		text += "   waits " + m.Waits + ", since " + format.Age(m.Waiting.Since)
	}
	if len(m.Skipped) > 0 {
		text += "   not all files read"
	}
	if m.Node != "" {
		text += "   on " + format.Line(m.Node)
	}
	return text
}
