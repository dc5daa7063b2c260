package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// MaxShown is how many lines of a question or a consultation the status shows.
const MaxShown = 12

// ShowReport prints the report on one screen.
func (a *App) ShowReport(r *status.Report) {
	if r.TaskID == "" {
		a.Say("%s\n", a.PaintState(r.State, 0))
		a.Say("  %s is ready for one\n", r.Root)
	} else {
		a.heading(r.TaskID, format.Line(r.Title), r.State)
	}
	if r.FailureReason != "" {
		a.ShowRow("failed", a.Paint(Red, format.Line(r.FailureReason)))
	}
	a.holderRow(r)
	a.progressRow(r)
	a.checkRow(r)
	a.reviewRow(r)
	a.ShowQuestion("question", r.Question, state.QuestionDoc)
	a.ShowOutput(r.Output, "    ")
	a.ShowQuestion("consultation", r.Consultation, state.ConsultRequestDoc)
	if r.Conductor != 0 {
		a.ShowRow("run", fmt.Sprintf("running (process %d)", r.Conductor))
	} else if len(r.Agents) > 0 {
		a.ShowRow("run", a.Paint(Yellow, "none is running: the one that started the agents below has ended"))
	}
	for _, w := range r.Agents {
		a.ShowAgent(w)
	}
	a.ShowSpend(r)
	if wait := r.WaitText(); wait != "" {
		if !r.Waiting.Since.IsZero() {
			wait += ", since " + format.Age(r.Waiting.Since)
		}
		a.ShowRow("waiting", wait)
	}
	for _, p := range r.Pipelines {
		a.ShowRow("pipeline", a.Paint(RunColour[p.State], p.Line()))
	}
	if len(r.Branches) > 0 {
		a.ShowRow("branches", shortList(r.Branches)+"   ferrus status --all shows them")
	}
	if len(r.Queue) > 0 {
		var names []string
		for _, t := range r.Queue {
			names = append(names, t.Name)
		}
		a.ShowRow("queue", shortList(names)+"   ferrus queue lists them")
	}
	for _, n := range r.Notices {
		a.ShowRow("notice", a.Paint(Yellow, format.Line(n)))
	}
	a.ShowSteps(r.Next)
}

// heading shows a task and its state in a line; in two where one does not fit.
func (a *App) heading(id, title string, s state.State) {
	columns, room := a.Width(), 44
	left := columns - len(id) - len(status.StateWords(s)) - 4
	if columns > 0 {
		room = min(room, left)
	}
	if taken := format.Width(title); columns > 0 && taken > room {
		if room = left; taken > room {
			a.Say("%s  %s\n  %s\n", id, a.PaintState(s, 0), title)
			return
		}
		room = taken
	}
	a.Say("%s  %s%s  %s\n", id, title, strings.Repeat(" ", max(0, room-format.Width(title))), a.PaintState(s, 0))
}

// ShowSpend shows what the task has cost.
func (a *App) ShowSpend(r *status.Report) {
	if s := status.Cost(r.Spent); s != "" {
		a.ShowRow("spent", s)
	}
}

// StateWidth is how wide a column of states in words is.
const StateWidth = 21

// PaintState is a state in words, in its colour and at least so many columns wide.
func (a *App) PaintState(s state.State, width int) Styled {
	return a.Paint(ColourOf(s), format.Pad(status.StateWords(s), width))
}

// ColourOf is the colour of a state; one without a colour is bold.
func ColourOf(s state.State) string {
	if c := StateColour[s]; c != "" {
		return c
	}
	return Bold
}

// ShowRow shows one thing about another. Of a text with several lines the others are framed.
func (a *App) ShowRow(name string, text any) {
	if s, ok := text.(string); ok {
		text = format.Margin(s)
	}
	a.Say("  %-11s %s\n", name, text)
}

func (a *App) holderRow(r *status.Report) {
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
		text += fmt.Sprintf(", last heard %s ago, lease until %s", format.Age(h.Heartbeat), format.Clock(h.LeaseUntil))
	}
	colour := ""
	if h.Dead {
		colour = Red
	}
	a.ShowRow("claimed by", a.Paint(colour, text))
}

func (a *App) checkRow(r *status.Report) {
	c := r.Check
	if c == nil {
		return
	}
	text := fmt.Sprintf("%d of %d failed checks used", c.Used, c.Max)
	if c.Commands == nil {
		text = "none are named in ferrus.toml: nothing can be submitted"
	} else if len(c.Commands) == 0 {
		text += "   (commands = []: every check passes)"
	}
	switch {
	case c.ID == "":
	case len(c.Failures) > 0 && c.Status == state.CheckRed:
		text += "        last: " + Outcome(c.Failures[0])
		if more := len(c.Failures) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	default:
		text += "        last: " + c.ID + " " + strings.ReplaceAll(string(c.Status), "_", " ")
	}
	if c.Log != "" {
		text += "   " + Path(r, c.Log)
	}
	a.ShowRow("checks", text)
	if c.Status != state.CheckRed || r.State != state.Addressing || len(c.Failures) == 0 {
		return
	}
	if tail := strings.TrimSpace(c.Failures[0].Tail); tail != "" {
		lines := strings.Split(tail, "\n")
		a.Say("%s\n", format.Frame(strings.Join(lines[max(0, len(lines)-maxTail):], "\n"), "    "))
	}
}

// maxTail is how many lines of the output of a failed check the status shows.
const maxTail = 6

// shortList is a list of names in a line.
func shortList(names []string) string {
	const most = 5
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (a *App) progressRow(r *status.Report) {
	if p := r.Progress; p != nil && r.State.InHand() {
		a.ShowRow("progress", fmt.Sprintf("%s ago: %q", format.Age(p.At), format.Clip(format.Line(p.Text), 100)))
	}
}

// Outcome is how a command ended, in the words of a log.
func Outcome(c checks.Command) string {
	how := fmt.Sprintf("exit %d", c.ExitCode)
	if c.TimedOut || c.Signal != "" || c.ExitCode < 0 {
		how = c.String()
		return fmt.Sprintf("%s (%s)", format.Line(c.Line), how)
	}
	return fmt.Sprintf("%s (%s, %.1f s)", format.Line(c.Line), how, c.Duration.Seconds())
}

func (a *App) reviewRow(r *status.Report) {
	if r.TaskID == "" {
		return
	}
	text := fmt.Sprintf("%d of %d used", r.Reviews.Used, r.Reviews.Max)
	s, v := r.Submission, r.Rejection
	switch {
	case s != nil && r.State == state.Complete:
		text += "        " + s.ID + " approved"
		if r.Approval != nil {
			text += " by " + format.Line(r.Approval.By) + format.FromTree(r.Approval.Tree)
		}
	case v != nil && (s == nil || v.At.After(s.At)):
		verb := "rejected"
		if v.Event == state.Reopen {
			verb = "reopened"
		}
		text += fmt.Sprintf("        %s %s ago: %q", strings.TrimSpace(v.ID+" "+verb), format.Age(v.At), format.Clip(format.Line(v.Text), 100)) + format.FromTree(v.Tree)
	case s != nil:
		text += fmt.Sprintf("        %s submitted by %s %s ago", s.ID, s.By, format.Age(s.At))
		if s.Patch != "" {
			text += "   " + Path(r, s.Patch)
		}
	}
	a.ShowRow("reviews", text)
	if v != nil && r.State == state.Addressing && (s == nil || v.At.After(s.At)) && format.Line(v.Text) != format.Clip(format.Line(v.Text), 100) {
		whole, more := format.Head(v.Text, MaxShown)
		a.Say("%s\n", format.Frame(whole, "    "))
		if more {
			a.Say("    … (the whole is .ferrus/%s)\n", state.ReviewDoc)
		}
	}
}

// ShowQuestion shows a question, as far as it fits.
func (a *App) ShowQuestion(kind string, p *status.Text, doc state.Doc) {
	if p == nil {
		return
	}
	a.Say("  %s %s from %s, %s ago\n", a.Paint(Bold, kind), p.ID, p.By, format.Age(p.At))
	text, more := format.Head(p.Text, MaxShown)
	a.Say("%s\n", format.Frame(text, "    "))
	if more {
		a.Say("    … (the whole is .ferrus/%s)\n", doc)
	}
	for _, o := range p.Options {
		a.Say("    %s%s\n", format.Bar, format.Line(o))
	}
}

// ShowOutput shows the end of what a command of the project printed that failed, below what follows from it.
func (a *App) ShowOutput(output, margin string) {
	if output != "" {
		a.Say("%s\n", format.Frame(output, margin))
	}
}

// ShowSteps shows the commands that help, one a line where they need a word.
func (a *App) ShowSteps(list []status.Step) {
	a.Say("\n")
	width := 0
	list = slices.Clone(list)
	for i := range list {
		list[i].Command = refusal.CommandOn(a.on(), list[i].Command)
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
			a.Say("%s%s\n", margin, a.Paint(Bold, s.Command))
		} else {
			a.Say("%s%s  %s\n", margin, a.Paint(Bold, fmt.Sprintf("%-*s", width, s.Command)), a.Paint(Dim, s.Why))
		}
	}
}

// Path is a path below the project's root, from there.
func Path(r *status.Report, path string) string {
	if rel, err := filepath.Rel(r.Root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// ShowEdits names files that were edited while ferrus moved them.
func (a *App) ShowEdits(edits []restore.Edit) {
	for _, e := range edits {
		a.Say("  %s\n", format.Line(e.String()))
	}
}

// DescribeEnd says how a run ended, where that is not as it should be.
func DescribeEnd(r process.Run) string {
	switch {
	case r.Trouble == agents.RateLimited && !r.Until.IsZero():
		return ": rate limit until " + format.Clock(r.Until)
	case r.Trouble != "":
		return ": " + strings.ReplaceAll(string(r.Trouble), "_", " ")
	case !r.Began():
		return ": " + r.Error
	case r.Stopped || r.Cut:
		return ", ended by ferrus"
	case r.Signal != "":
		return ", killed by " + r.Signal
	case r.Error != "":
		return ": " + r.Error
	case r.Exit != 0:
		return fmt.Sprintf(", exit status %d", r.Exit)
	case r.Replaced:
		return ", and had replaced the file .git of its work tree, which was put back"
	}
	return ""
}

// ShowAgent shows an agent at work.
func (a *App) ShowAgent(w status.AgentReport) {
	text := w.Name + "  " + w.Agent + "  for " + format.Duration(time.Since(w.Started))
	if u := status.Usage(w.Usage); u != "" {
		text += ", " + u
	}
	if w.Sandbox != "" {
		text += ", sandbox: " + w.Sandbox
	}
	if w.Outside != "" {
		text += ", no sandbox"
	}
	if w.Doing != "" {
		text += "  " + format.Clip(format.Line(w.Doing), 60)
	}
	a.ShowRow("running", a.Paint(RoleColour[w.Duty.Role()], text))
}
