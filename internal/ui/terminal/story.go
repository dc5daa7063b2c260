package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A storyTab says in words how a task stands: what needs the person, what was handed in, and what happened, the newest first.
type storyTab struct {
	scroll
	static
	detail   *Detail
	needs    []status.Need // of the item, in the words of the overview
	commands bool          // also of a question
	now      time.Time
}

func (*storyTab) name() string { return "story" }

func (t *storyTab) show(d *Detail, now time.Time) {
	t.detail, t.now = d, now
	t.build()
}

func (t *storyTab) resize(width, height int) {
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

func (t *storyTab) build() {
	d := t.detail
	if d == nil {
		t.set(reading)
		return
	}
	s := &sheet{width: min(t.width, widest)}
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
func (t *storyTab) task(s *sheet, d *status.Detail) {
	r := d.Report
	if r.TaskID == "" {
		s.add(bold, "", "no task")
		return
	}
	needs := t.allNeeds(d.Needs)
	for _, n := range needs {
		asks := r.Question != nil && n.Kind != status.NeedAgreement && n.Branch == r.Branch
		mark := markOf(n.Kind)
		s.add(mark.style.Bold(true), "", mark.sign+" "+line(n.Text))
		if asks {
			s.add(plain, "  ", rest(r.Question.Text, n.Text))
		}
		s.add(dim, "  ", n.Output)
		if n.By == "" || t.commands { // a question is answered here
			s.add(dim, "  ", n.Command)
		}
		if asks && len(n.Options) > 0 {
			s.rows = append(s.rows, row{})
			s.options(n.Options)
			s.rows = append(s.rows, row{text: "  0  in your own words", draw: "  " + bold.Render("0") + "  in your own words"})
		}
		if n.By != "" {
			s.gap()
			s.add(dim, "  ", n.By+goesOn)
		}
		s.gap()
	}
	if len(needs) == 0 {
		s.add(bold, "", line(status.StateWords(r.State))+since(r.Since, t.now))
		s.gap()
	}
	t.texts(s, r)
	s.gap()
	t.story(s, d, needs)
	s.gap()
	if c := r.Check; c != nil {
		text := fmt.Sprintf("Checks    %d of %d tries used", c.Used, c.Max)
		if r.Spent.Usage.Dollars > 0 {
			text = fit(text, 35) + fmt.Sprintf("Spend  $%.2f", r.Spent.Usage.Dollars)
		}
		s.add(dim, "", text)
	}
	if p := r.Progress; p != nil {
		s.add(dim, "", "Progress  "+line(p.Text)+", "+age(p.At, t.now)+" ago")
	}
}

// goesOn says after the name of an agent what an answer does.
const goesOn = " asks. It goes on some seconds after the answer."

// rest is a text without the line that is shown already, "" where there is no more.
func rest(text, shown string) string {
	if first, after, _ := strings.Cut(strings.TrimLeft(text, "#\n "), "\n"); line(strings.TrimSpace(first)) == line(shown) {
		return strings.TrimSpace(after)
	}
	return text
}

// entryMarks are the marks of entries by what became of the task.
var entryMarks = map[string]mark{"good": {sign: "✓", style: green}, "bad": {sign: "✗", style: red}, "ask": {sign: "?", style: yellow}, "wait": {sign: "✓", style: blue}}

// story is what happened, the newest first.
func (t *storyTab) story(s *sheet, d *status.Detail, needs []status.Need) {
	if len(d.Timeline) == 0 {
		return
	}
	s.rows = append(s.rows, row{text: "Story", style: bold, mark: true})
	if len(needs) > 0 {
		mark := markOf(needs[0].Kind)
		s.add(mark.style, "", mark.sign+" now     waits for you")
	}
	for _, e := range slices.Backward(d.Timeline) {
		mark := entryMarks[e.Outcome()]
		if mark.sign == "" {
			mark = ended
		}
		text := who(e.By) + " " + line(status.EventWords(e.Event))
		if said := line(e.Text); said != "" && e.Event != state.Claim && e.Event != state.CheckStarted && e.Event != state.CreateTask {
			if strings.Contains(said, " ") {
				text += ":"
			}
			text += " " + said
		}
		if e.Undone {
			text += ", undone"
		}
		when := fit(age(e.At, t.now), 7)
		for i, piece := range wrapped(text, s.width-10) {
			r := row{text: "          " + piece}
			if i == 0 {
				r = row{text: mark.sign + " " + when + " " + piece, draw: mark.style.Render(mark.sign) + " " + dim.Render(when) + " " + piece}
			}
			if e.Undone {
				r.draw, r.style = "", dim
			}
			s.rows = append(s.rows, r)
		}
	}
	if d.Earlier {
		s.add(dim, "", "  earlier entries are in: ferrus log")
	}
}

// allNeeds are the needs of a task, and those of its item that are not the task's: of the project.
func (t *storyTab) allNeeds(list []status.Need) []status.Need {
	list = slices.Clone(list)
	for _, n := range t.needs {
		if at := slices.IndexFunc(list, func(m status.Need) bool { return m.ID == n.ID }); at >= 0 {
			list[at].Text = n.Text // git was asked for it
		} else {
			list = append(list, n)
		}
	}
	return list
}

func (t *storyTab) next(s *sheet, list []status.Step) {
	for _, n := range list {
		s.add(plain, "  ", n.Command)
	}
}

// run says how a run of a pipeline stands: its phases, and each worker.
func (t *storyTab) run(s *sheet, l *status.RunStatus) {
	s.add(bold, "", line(l.Topic))
	s.gap()
	s.fact("run", l.Run)
	s.fact("state", string(l.Status.State))
	s.fact("waiting", l.WaitText(t.now))
	for _, q := range l.Questions {
		t.question(s, q)
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
func (t *storyTab) question(s *sheet, q status.RunQuestion) {
	s.gap()
	s.add(yellow.Bold(true), "", "? "+line(q.By)+" asks, "+age(q.At, t.now)+" ago")
	s.add(plain, "  ", q.Text)
	s.options(q.Options)
	s.gap()
}

// numbered is an option with its number, which it may have already.
func numbered(i int, option string) string {
	return fmt.Sprintf("%d  %s", i+1, strings.TrimPrefix(line(option), fmt.Sprintf("%d. ", i+1)))
}

// texts shows what was written last about the work.
func (t *storyTab) texts(s *sheet, r *status.Report) {
	for _, one := range []struct {
		name string
		text *status.Text
	}{{"approved", r.Approval}, {"rejected", r.Rejection}, {"submitted", r.Submission}} {
		if one.text == nil {
			continue
		}
		s.gap()
		s.add(bold, "", strings.TrimSpace(fmt.Sprintf("%s %s by %s, %s ago", one.name, one.text.ID, who(one.text.By), age(one.text.At, t.now))))
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

// widest is how many columns a text has at most: longer lines are hard to read.
const widest = 100
