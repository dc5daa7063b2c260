package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/stack"
)

// A row is one entry of the journal of some machine.
type row struct {
	at      time.Time
	machine string
	kind    string        // of the machine: project, branch or pipeline
	event   *status.Event // of a task
	line    *run.Line     // of a pipeline
}

// everywhere shows the events of all machines of the project, by time. What cannot be read is left
// out and becomes the error.
func everywhere(a *cli.App, ctx context.Context, newest int, durations bool) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	names, err := project.Branches(place.Root)
	if err != nil {
		return err
	}
	var journals [][]row
	var damage []error
	var unread []string // the machines of which some entries are missing
	for _, name := range append([]string{""}, names...) {
		more, err := journalsAt(a, project.At(place.Root, name), newest)
		journals = append(journals, more...)
		if err != nil {
			damage, unread = append(damage, err), append(unread, cmp.Or(name, "project"))
		}
	}
	rows := interleave(journals)
	if n := len(rows) - newest; newest > 0 && n > 0 {
		rows = rows[n:]
	}
	for _, r := range rows {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.show(a, durations); err != nil {
			return err
		}
	}
	if len(rows) == 0 && damage == nil && !a.JSON {
		a.Say("there are no events yet\n")
	}
	if damage != nil && !a.JSON {
		a.Say("not all entries can be read of: %s\n", strings.Join(unread, ", "))
	}
	return errors.Join(damage...)
}

// journalsAt reads the journal of a machine, and from the project's own those of all pipelines.
func journalsAt(a *cli.App, p project.Place, newest int) ([][]row, error) {
	e, err := a.OpenToReadAt(p)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	list, damage := status.History(e, newest)
	kind := "branch"
	if p.Branch == "" {
		kind = "project"
		a.WarnForeign(e.Foreign())
	}
	var own []row
	for i, ev := range list {
		if !ev.Shared { // else its parent has it, too
			own = append(own, row{at: ev.At, machine: cmp.Or(p.Branch, "project"), kind: kind, event: &list[i]})
		}
	}
	all := [][]row{own}
	if p.Branch != "" {
		return all, damage
	}
	runs, err := pipelineRows(e)
	return append(all, runs...), errors.Join(damage, err)
}

func pipelineRows(e *engine.Engine) ([][]row, error) {
	folders, err := stack.Folders(e)
	if err != nil {
		return nil, err
	}
	var all [][]row
	for _, f := range folders {
		lines, err := f.Lines()
		if err != nil {
			return all, err
		}
		var own []row
		for i, l := range lines {
			own = append(own, row{at: l.At, machine: f.Name(), kind: "pipeline", line: &lines[i]})
		}
		all = append(all, own)
	}
	return all, nil
}

// interleave merges journals by time. It never reorders the entries of one journal, whose times may
// go back when somebody sets the clock.
func interleave(journals [][]row) []row {
	var all []row
	for {
		journals = slices.DeleteFunc(journals, func(j []row) bool { return len(j) == 0 })
		if len(journals) == 0 {
			return all
		}
		first := 0
		for i, j := range journals {
			if j[0].at.Before(journals[first][0].at) {
				first = i
			}
		}
		all = append(all, journals[first][0])
		journals[first] = journals[first][1:]
	}
}

func (r row) show(a *cli.App, durations bool) error {
	if a.JSON {
		return a.PrintJSONLine(r.json())
	}
	day := ""
	if d := r.at.Local().Format(time.DateOnly); d != time.Now().Format(time.DateOnly) {
		day = d + " "
	}
	a.Say("%s%s ", day, format.Pad(a.Name(format.Line(r.machine), machineWidth), machineWidth))
	if r.event != nil {
		ShowEvent(a, *r.event, durations)
		return nil
	}
	gap := ""
	if durations {
		gap = fmt.Sprintf("%8s", "")
	}
	a.Say("%4d %s %s  %-25s %s\n", r.line.Rev, format.Clock(r.at), gap, format.Line(r.line.By), format.Line(pipelineText(*r.line)))
	return nil
}

// machineWidth is how many characters of the name of a machine are shown.
const machineWidth = 24

// pipelineText returns a line of the journal of a pipeline for a person.
func pipelineText(l run.Line) string {
	text := fmt.Sprintf("%-16s %s", l.Event, strings.Join(l.Roles, ", "))
	if why := cmp.Or(l.Tell, l.Why, string(l.Reason)); why != "" {
		text = strings.TrimRight(text, " ") + ": " + why
	}
	return strings.TrimSpace(text)
}

func (r row) json() map[string]any {
	var l map[string]any
	if r.event != nil {
		l = r.event.LineJSON()
		marks(*r.event, l, nil)
	} else {
		l = map[string]any{"seq": r.line.Rev, "event": r.line.Event, "roles": r.line.Roles, "state": r.line.Status.State,
			"note": cmp.Or(r.line.Tell, r.line.Why, string(r.line.Reason))}
		if r.line.Roles == nil {
			l["roles"] = []string{}
		}
		if r.line.By != "" {
			l["by"] = r.line.By
		}
	}
	l["at"], l["machine"], l["kind"] = r.at.UTC().Format(jsonx.Layout), r.machine, r.kind
	return l
}
