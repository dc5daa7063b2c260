package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/state"
)

// maxShown is how many lines of a question or a consultation the status shows.
const maxShown = 12

// showReport prints the report on one screen.
func (a *app) showReport(r *report) {
	if r.TaskID == "" {
		a.heading("no task", "", r.State)
		a.say("  %s is ready for one\n", r.Root)
	} else {
		a.heading(r.TaskID, line(r.Title), r.State)
	}
	if r.FailureReason != "" {
		a.row("failed", a.paint(red, line(r.FailureReason)))
	}
	a.holderRow(r)
	a.checkRow(r)
	a.reviewRow(r)
	a.asked("question", r.Question, state.QuestionDoc)
	a.asked("consultation", r.Consultation, state.ConsultRequestDoc)
	if r.Conductor != 0 {
		a.row("run", fmt.Sprintf("at work (process %d)", r.Conductor))
	} else if len(r.Agents) > 0 {
		a.row("run", a.paint(yellow, "none is at work: the one that started the agents below has ended"))
	}
	for _, w := range r.Agents {
		a.agentRow(w)
	}
	a.spentRow(r)
	if wait := r.wait(); wait != "" {
		if !r.Waiting.Since.IsZero() {
			wait += ", since " + age(r.Waiting.Since)
		}
		a.row("waiting", wait)
	}
	for _, p := range r.Pipelines {
		a.row("pipeline", a.paint(colourOf[p.State], p.words()))
	}
	for _, n := range r.Notices {
		a.row("notice", a.paint(yellow, line(n)))
	}
	a.next(r.Next)
}

// heading shows a task and its state in a line; in two where the terminal has no room for one.
func (a *app) heading(id, title string, s state.State) {
	columns := a.width()
	room := 44
	if columns > 0 {
		room = min(room, columns-len(id)-len(s)-4)
	}
	if taken := columnsOf(title); columns > 0 && taken > room {
		if room = columns - len(id) - len(s) - 4; taken > room {
			a.say("%s  %s\n  %s\n", id, a.paint(stateOr(s), string(s)), title)
			return
		}
		room = taken
	}
	a.say("%s  %s%s  %s\n", id, title, strings.Repeat(" ", max(0, room-columnsOf(title))), a.paint(stateOr(s), string(s)))
}

// spentRow shows what the task has cost.
func (a *app) spentRow(r *report) {
	if s := cost(r.Spent); s != "" {
		a.row("spent", s)
	}
}

func stateOr(s state.State) string {
	if c := stateColour[s]; c != "" {
		return c
	}
	return bold
}

// row shows one thing about another. Of a text with several lines the others are framed.
func (a *app) row(name string, text any) {
	if s, ok := text.(string); ok {
		text = further(s)
	}
	a.say("  %-11s %s\n", name, text)
}

func (a *app) holderRow(r *report) {
	h := r.Holder
	if h == nil {
		return
	}
	how := "alive"
	switch {
	case h.Dead:
		how = h.Why
	case !h.Alive:
		how = "not seen on this machine; " + h.Why
	}
	text := fmt.Sprintf("%s   %s", h.Agent, how)
	if !h.Heartbeat.IsZero() {
		text += fmt.Sprintf(", last heard %s ago, lease until %s", age(h.Heartbeat), clock(h.LeaseUntil))
	}
	colour := ""
	if h.Dead {
		colour = red
	}
	a.row("held by", a.paint(colour, text))
}

func (a *app) checkRow(r *report) {
	c := r.Check
	if c == nil {
		return
	}
	text := fmt.Sprintf("%d red of %d", c.Used, c.Max)
	if c.Commands == nil {
		text = "none are named in ferrus.toml: nothing can be submitted"
	} else if len(c.Commands) == 0 {
		text += "   (commands = []: every check passes)"
	}
	switch {
	case c.ID == "":
	case len(c.Failures) > 0 && c.Status == state.CheckRed:
		text += "        last: " + outcome(c.Failures[0])
		if more := len(c.Failures) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	default:
		text += "        last: " + c.ID + " " + strings.ReplaceAll(string(c.Status), "_", " ")
	}
	if c.Log != "" {
		text += "   " + r.path(c.Log)
	}
	a.row("checks", text)
}

// outcome is how a command ended, in the words of a log.
func outcome(c checks.Command) string {
	how := fmt.Sprintf("exit %d", c.ExitCode)
	if c.TimedOut || c.Signal != "" || c.ExitCode < 0 {
		how = c.String()
		return fmt.Sprintf("%s (%s)", line(c.Line), how)
	}
	return fmt.Sprintf("%s (%s, %.1f s)", line(c.Line), how, c.Duration.Seconds())
}

func (a *app) reviewRow(r *report) {
	if r.TaskID == "" {
		return
	}
	text := fmt.Sprintf("%d of %d used", r.Reviews.Used, r.Reviews.Max)
	s, v := r.Submission, r.Rejection
	switch {
	case s != nil && r.State == state.Complete:
		text += "        " + s.ID + " approved"
		if r.Approval != nil {
			text += " by " + line(r.Approval.By) + fromTree(r.Approval.Tree)
		}
	case v != nil && (s == nil || v.At.After(s.At)):
		verb := "rejected"
		if v.event == state.Reopen {
			verb = "reopened"
		}
		text += fmt.Sprintf("        %s %s ago: %q", strings.TrimSpace(v.ID+" "+verb), age(v.At), clip(line(v.Text), 100)) + fromTree(v.Tree)
	case s != nil:
		text += fmt.Sprintf("        %s submitted by %s %s ago", s.ID, s.By, age(s.At))
		if s.Patch != "" {
			text += "   " + r.path(s.Patch)
		}
	}
	a.row("reviews", text)
}

// fromTree is the process tree of a decision, to stand behind it.
func fromTree(tree string) string {
	if tree == "" {
		return ""
	}
	return "   (" + tree + ")"
}

// asked shows what somebody is asked, as far as it fits.
func (a *app) asked(kind string, p *paper, doc state.Doc) {
	if p == nil {
		return
	}
	a.say("  %s %s from %s, %s ago\n", a.paint(bold, kind), p.ID, p.By, age(p.At))
	text, more := head(p.Text, maxShown)
	a.say("%s\n", framed(text, "    "))
	if more {
		a.say("    … (the whole is .ferrus/%s)\n", doc)
	}
	for _, o := range p.Options {
		a.say("    %s%s\n", bar, line(o))
	}
}

// next shows the commands that help, one a line where they need a word.
func (a *app) next(list []step) {
	a.say("\n")
	width := 0
	list = slices.Clone(list)
	for i := range list {
		list[i].Command = a.commands(list[i].Command)
	}
	for _, s := range list {
		if s.Why != "" {
			width = max(width, len(s.Command))
		}
	}
	for i, s := range list {
		margin := "      "
		if i == 0 {
			margin = "next  "
		}
		if s.Why == "" {
			a.say("%s%s\n", margin, a.paint(bold, s.Command))
		} else {
			a.say("%s%s  %s\n", margin, a.paint(bold, fmt.Sprintf("%-*s", width, s.Command)), a.paint(dim, s.Why))
		}
	}
}

// path is a path below the project's root, from there.
func (r *report) path(path string) string {
	if rel, err := filepath.Rel(r.Root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// clip shortens a line to n characters.
func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
