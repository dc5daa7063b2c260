package status

import (
	"cmp"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ShowOverview prints a project as a table, a line each.
func ShowOverview(a *cli.App, v *status.Overview) {
	machines := column(a, 14, v.Machines, func(m status.Machine) string { return cmp.Or(m.Branch, "project") })
	for _, m := range v.Machines {
		a.Say("%s %s  %-26s  %s\n", machines(m), a.PaintState(m.State, cli.StateWidth), m.TaskID, line(m))
	}
	if len(v.Needs) > 0 {
		a.Say("\nneeds you\n")
	}
	needs := column(a, 14, v.Needs, func(n status.Need) string { return cmp.Or(n.Branch, n.Run, n.Queued, "project") })
	for _, n := range v.Needs {
		a.Say("  %s %s  →  %s\n", needs(n), n.Text, a.Paint(cli.Bold, n.Command))
		a.ShowOutput(n.Output, "      ")
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
	waiting := column(a, 22, v.Queue, func(t status.QueuedTask) string { return t.Name })
	for _, t := range v.Queue {
		a.Say("  %s  %s\n", waiting(t), format.Clip(t.Title, 60))
		if t.Waits != "" {
			a.Say("      %s\n", a.Paint(cli.Dim, format.Line(t.Waits)))
		}
	}
	if len(v.Finished) > 0 {
		a.Say("\narchived pipeline runs\n")
	}
	finished := column(a, 30, v.Finished, func(r status.RunLine) string { return r.Run })
	for _, r := range v.Finished {
		a.Say("  %s  %s  %s\n", finished(r), a.Paint(cli.RunColour[r.State], format.Pad(r.Outcome(), 10)), r.About())
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
		a.Say("  %s  %-26s  %s  %s%s\n", day, t.TaskID, a.Paint(cli.StateColour[t.State], format.Pad(t.Outcome(), 10)), format.Clip(format.Line(t.Title+t.Error), 60), where)
	}
	if v.More > 0 {
		a.Say("  and %d more; ferrus status --all -n %d shows them\n", v.More, len(v.Archived)+v.More)
	}
}

// column returns how the names of a list stand in their column.
func column[T any](a *cli.App, least int, list []T, name func(T) string) func(T) string {
	names := make([]string, len(list))
	for i, x := range list {
		names[i] = name(x)
	}
	shown := a.Names(least, names)
	return func(x T) string { return shown(name(x)) }
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
