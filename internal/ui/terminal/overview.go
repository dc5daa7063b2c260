package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// An overviewTab says in words how a task stands.
type overviewTab struct {
	scroll
	static
	detail *Detail
	needs  []status.Need // of the item, in the words of the overview
	now    time.Time
}

func (*overviewTab) name() string { return "overview" }

func (t *overviewTab) show(d *Detail, now time.Time) {
	t.detail, t.now = d, now
	t.build()
}

func (t *overviewTab) resize(width, height int) {
	t.scroll.resize(width, height)
	t.build()
}

// A sheet collects rows that are broken at a width.
type sheet struct {
	rows  []row
	width int
}

// add adds a text of others, with a margin.
func (s *sheet) add(style lipgloss.Style, margin, text string) {
	for _, r := range rowsOf(text) {
		for _, piece := range wrapped(r, s.width-len(margin)) {
			s.rows = append(s.rows, row{text: margin + piece, style: style})
		}
	}
}

func (s *sheet) gap() {
	if n := len(s.rows); n > 0 && s.rows[n-1].text != "" {
		s.rows = append(s.rows, row{})
	}
}

// fact adds a name and what is to be said about it.
func (s *sheet) fact(name, text string) {
	if text = line(text); text == "" {
		return
	}
	const column = 12
	for i, piece := range wrapped(text, s.width-column) {
		if i > 0 {
			name = ""
		}
		s.rows = append(s.rows, row{text: fit(name, column) + piece})
	}
}

func (t *overviewTab) build() {
	d := t.detail
	if d == nil {
		t.set(reading)
		return
	}
	s := &sheet{width: t.width}
	switch {
	case d.Task != nil:
		t.task(s, d.Task)
	case d.Run != nil:
		t.run(s, d.Run)
	default:
		s.add(plain, "", d.Text)
	}
	t.set(s.rows)
}

// task says how a task stands: first what needs the person.
func (t *overviewTab) task(s *sheet, d *status.Detail) {
	r := d.Report
	if r.TaskID == "" {
		s.add(bold, "", "no task")
	} else {
		s.add(bold, "", line(r.Title))
	}
	s.gap()
	for _, n := range t.allNeeds(d.Needs) {
		mark := markOf(n.Kind)
		s.add(mark.style.Bold(true), "", mark.sign+" "+line(n.Text))
		s.add(plain, "  ", n.Command)
		if n.Output != "" {
			s.add(dim, "  ", n.Output)
		}
	}
	s.gap()
	s.fact("state", line(status.StateWords(r.State))+since(r.Since, t.now))
	s.fact("task", r.TaskID)
	s.fact("branch", r.Branch)
	if r.FailureReason != "" {
		s.fact("failed", r.FailureReason)
	}
	if wait := r.WaitText(); wait != "" {
		s.fact("waiting", wait+since(r.Waiting.Since, t.now))
	}
	t.question(s, "question", r.Question)
	t.question(s, "consultation", r.Consultation)
	t.work(s, r)
	for _, n := range r.Notices {
		s.fact("notice", n)
	}
	t.texts(s, r)
	if len(r.Next) > 0 {
		s.gap()
		s.add(bold, "", "commands")
		t.next(s, r.Next)
	}
}

// allNeeds are the needs of a task, and those of its item that are not the task's: of the project.
func (t *overviewTab) allNeeds(list []status.Need) []status.Need {
	list = slices.Clone(list)
	for _, n := range t.needs {
		if !slices.ContainsFunc(list, func(m status.Need) bool { return m.ID == n.ID }) {
			list = append(list, n)
		}
	}
	return list
}

func (t *overviewTab) next(s *sheet, list []status.Step) {
	for _, n := range list {
		s.add(plain, "  ", n.Command)
	}
}

// run says how a run of a pipeline stands: its phases, and each worker.
func (t *overviewTab) run(s *sheet, l *status.RunStatus) {
	s.add(bold, "", line(l.Topic))
	s.gap()
	s.fact("run", l.Run)
	s.fact("state", string(l.Status.State))
	s.fact("waiting", l.WaitText(t.now))
	for _, q := range l.Questions {
		t.question(s, "question", &status.Text{ID: q.ID, By: q.By, At: q.At, Text: q.Text, Options: q.Options})
	}
	for i, p := range l.Status.Phases {
		s.gap()
		s.add(bold, "", status.PhaseWords(i, p))
		for _, k := range p.Workers {
			s.add(plain, "  ", status.WorkerWords(l.View, k, t.now))
			for _, printed := range status.Printed(l.View, k) {
				s.add(dim, "    ", printed)
			}
		}
	}
	s.gap()
	s.add(bold, "", "commands")
	t.next(s, l.Next)
}

// question shows a question with its options, which are numbered.
func (t *overviewTab) question(s *sheet, kind string, q *status.Text) {
	if q == nil {
		return
	}
	s.gap()
	s.add(yellow.Bold(true), "", fmt.Sprintf("%s %s from %s, %s ago", kind, q.ID, line(q.By), age(q.At, t.now)))
	s.add(plain, "  ", q.Text)
	for i, o := range q.Options {
		s.add(plain, "  ", numbered(i, o))
	}
	s.gap()
}

// numbered is an option with its number, which it may have already.
func numbered(i int, option string) string {
	number := fmt.Sprintf("%d. ", i+1)
	return number + strings.TrimPrefix(line(option), number)
}

// work shows who works, the budgets, and what was spent.
func (t *overviewTab) work(s *sheet, r *status.Report) {
	if h := r.Holder; h != nil {
		how := h.Agent
		if h.Dead {
			how += ", " + h.Why
		}
		s.fact("claimed by", how)
	}
	if r.Node != "" {
		s.fact("conducted on", line(r.Node))
	}
	for _, a := range r.Agents {
		who := a.Agent
		if a.Sandbox != "" {
			who += ", sandbox: " + a.Sandbox
		}
		if a.Outside != "" {
			who += ", no sandbox"
		}
		s.fact("running", strings.TrimSpace(a.Name+"  "+who+"  "+a.Doing))
	}
	if p := r.Progress; p != nil {
		s.fact("progress", p.Text+", "+age(p.At, t.now)+" ago")
	}
	if c := r.Check; c != nil {
		text := fmt.Sprintf("%d of %d failed checks used", c.Used, c.Max)
		if c.ID != "" {
			text += "; " + c.ID + " " + strings.ReplaceAll(string(c.Status), "_", " ")
		}
		s.fact("checks", text)
		s.fact("reviews", fmt.Sprintf("%d of %d used", r.Reviews.Used, r.Reviews.Max))
	}
	s.fact("spent", status.Cost(r.Spent))
}

// texts shows what was written last about the work.
func (t *overviewTab) texts(s *sheet, r *status.Report) {
	for _, one := range []struct {
		name string
		text *status.Text
	}{{"approved", r.Approval}, {"rejected", r.Rejection}, {"submitted", r.Submission}} {
		if one.text == nil {
			continue
		}
		s.gap()
		s.add(bold, "", strings.TrimSpace(fmt.Sprintf("%s %s by %s, %s ago", one.name, one.text.ID, line(one.text.By), age(one.text.At, t.now))))
		s.add(plain, "  ", one.text.Text)
	}
}

// age is how long ago a time is.
func age(at, now time.Time) string { return format.Duration(max(time.Second, now.Sub(at))) }

// since adds since when something is so.
func since(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", for " + age(at, now)
}
