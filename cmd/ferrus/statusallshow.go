package main

import "time"

// showOverview prints a project as a table, a line each.
func (a *app) showOverview(v *overview) {
	for _, m := range v.Machines {
		name := m.Branch
		if name == "" {
			name = "project"
		}
		a.say("%-14s %s  %-22s  %s\n", clip(name, 14), a.paint(stateOr(m.State), padded(string(m.State), 13)), m.TaskID, m.line())
	}
	if len(v.Pipelines) > 0 {
		a.say("\npipelines\n")
	}
	for _, p := range v.Pipelines {
		a.say("  %s  %s\n", a.paint(colourOf[p.State], p.words()), a.paint(dim, clip(line(p.Topic), 60)))
	}
	if len(v.Archived) > 0 {
		a.say("\narchived\n")
	}
	for _, t := range v.Archived {
		where := ""
		if t.Branch != "" {
			where = "   (" + t.Branch + ")"
		}
		if t.Removed {
			where = "   (" + t.Branch + ", removed)"
		}
		day := padded("", len(time.DateOnly))
		if !t.At.IsZero() {
			day = t.At.Local().Format(time.DateOnly)
		}
		a.say("  %s  %-22s  %s  %s%s\n", day, t.TaskID, a.paint(stateColour[t.State], padded(t.outcome(), 10)), clip(line(t.Title+t.Error), 60), where)
	}
	if v.More > 0 {
		a.say("  and %d more; ferrus status --all -n %d shows them\n", v.More, len(v.Archived)+v.More)
	}
}

// line is what there is to say about a machine beside its state.
func (m machine) line() string {
	if m.Error != "" {
		return "cannot be read: " + line(m.Error)
	}
	text := clip(line(m.Title), 44)
	if m.words != "" {
		text += "   waits " + m.words + ", since " + age(m.Waiting.Since)
	}
	return text
}

// padded is a text of at least n characters.
func padded(text string, n int) string {
	for len([]rune(text)) < n {
		text += " "
	}
	return text
}
