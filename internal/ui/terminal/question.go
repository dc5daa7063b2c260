package terminal

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

// asks reports whether the form is the answer to a question: it has the whole screen, or the right pane, and no frame.
func (f *form) asks() bool {
	return f.does.Name == "answer" && len(f.inputs) == 1 && f.inputs[0].area != nil
}

// A query is what an agent or ferrus asks the person, and how it is shown.
type query struct {
	need status.Need
	text string // below the sentence
}

// queryOf is what the form answers.
func (m *Model) queryOf(f *form) (q query) {
	for _, n := range m.needsOf(m.of) {
		if n.Kind.Urgency() == 0 && (q.need.Text == "" || slices.Contains(f.does.Args, n.ID[strings.LastIndex(n.ID, ":")+1:])) {
			q.need = n
		}
	}
	if d := m.detail; d != nil && d.Task != nil && d.Task.Report != nil {
		for _, t := range []*status.Text{d.Task.Report.Question, d.Task.Report.Consultation} {
			if t != nil {
				q.text = t.Text
			}
		}
	} else if d != nil && d.Run != nil {
		for _, a := range d.Run.Questions {
			if slices.Contains(f.does.Args, a.ID) {
				q.text = a.Text
			}
		}
	}
	if first := rowsOf(q.text); q.need.Text == "" && len(first) > 0 {
		q.need.Text = first[0]
	}
	q.text = rest(q.text, q.need.Text)
	return q
}

// asking draws a question with its options and the field for one's own words, in a width and a height.
func (m *Model) asking(f *form, width, height int) (rows []string, cursor *tea.Cursor) {
	in, q := f.inputs[0], m.queryOf(f)
	mark := markOf(q.need.Kind)
	for _, piece := range wrapped(mark.sign+" "+line(q.need.Text), width-2) {
		rows = append(rows, " "+mark.style.Bold(true).Render(piece))
	}
	rows = append(rows, noticed(f.does, width-3)...)
	s := &sheet{width: min(width-4, widest)}
	s.options(in.Options)
	var below []string
	for i, r := range s.rows {
		text := " " + r.drawn(s.width)
		if i == in.choice {
			text = marked.Render(ansi.Strip(text))
		}
		below = append(below, text)
	}
	own := "   0  in your own words:"
	if !in.choosing() && len(in.Options) > 0 {
		own = marked.Render(fit(own, s.width+1))
	}
	if len(in.Options) > 0 {
		below = append(below, own)
	}
	if !in.choosing() {
		box := min(s.width-2, 75)
		in.area.SetWidth(box - 4)
		in.area.SetHeight(max(1, min(4, height-len(rows)-len(below)-7)))
		title := "─ your answer "
		below = append(below, "   "+blue.Render("┌"+title+strings.Repeat("─", max(0, box-2-ansi.StringWidth(title)))+"┐"))
		if cursor = in.area.Cursor(); cursor != nil {
			cursor.X, cursor.Y = cursor.X+5, cursor.Y+len(below)
		}
		for _, r := range strings.Split(in.area.View(), "\n") {
			below = append(below, "   "+blue.Render("│")+" "+fit(r, box-4)+" "+blue.Render("│"))
		}
		below = append(below, "   "+blue.Render("└"+strings.Repeat("─", max(0, box-2))+"┘"))
	}
	below = append(below, "")
	if f.wrong != "" {
		below = append(below, "   "+red.Render(f.wrong))
	} else if q.need.By != "" {
		below = append(below, "   "+dim.Render(line(q.need.By)+goesOn))
	}
	var text []string
	for _, r := range rowsOf(q.text) {
		text = append(text, wrapped(r, s.width)...)
	}
	if len(text) > 0 {
		room := max(1, height-len(rows)-len(below)-2)
		f.top = max(0, min(f.top, len(text)-room))
		rows = append(rows, "")
		for _, r := range text[f.top:min(len(text), f.top+room)] {
			rows = append(rows, "   "+r)
		}
	}
	rows = append(rows, "")
	if cursor != nil {
		cursor.Y += len(rows)
	}
	rows = append(rows, below...)
	if cut := len(rows) - height; cut > 0 { // what is typed stays in sight
		rows = rows[cut:]
		if cursor != nil {
			cursor.Y -= cut
		}
	}
	for len(rows) < height {
		rows = append(rows, "")
	}
	for i, r := range rows {
		rows[i] = fit(r, width)
	}
	return rows, cursor
}

// askingView is the screen while a question is answered: of one pane the whole, of two the right one below its title.
func (m *Model) askingView(f *form, body []string) (header string, rows []string, cursor *tea.Cursor) {
	if !m.narrow() {
		width, top := m.width-leftColumns-2, 3
		drawn, at := m.asking(f, width, len(body)-top)
		for i, r := range drawn {
			body[i+top] = ansi.Cut(body[i+top], 0, leftColumns) + dim.Render("│") + " " + r
		}
		if at != nil {
			at.X, at.Y = at.X+leftColumns+2, at.Y+top+1
		}
		return m.header(), body, at
	}
	title := " ‹ "
	if it, any := m.list.selected(); any {
		title += it.title
	}
	where := ""
	if n := m.queryOf(f).need; !n.Since.IsZero() {
		where = " · " + age(n.Since, m.now())
	}
	where = m.whichQuestion() + where
	header = ends(bold.Render(clip(title, m.width-ansi.StringWidth(where)-2)), dim.Render(where)+" ", m.width)
	drawn, at := m.asking(f, m.width, len(body)-1)
	if at != nil {
		at.Y += 2
	}
	return header, append([]string{dim.Render(strings.Repeat("─", m.width))}, drawn...), at
}

// whichQuestion says which of all questions is shown.
func (m *Model) whichQuestion() string {
	at, n := 0, 0
	for _, it := range m.list.items {
		if it.needs && it.urgency == 0 {
			if n++; it.key == m.of {
				at = n
			}
		}
	}
	if at == 0 {
		return "question"
	}
	return fmt.Sprintf("question %d of %d", at, n)
}

// askingKeys are the keys of the form of an answer.
func (f *form) askingKeys() []hint {
	in := f.inputs[0]
	if in.choosing() {
		return []hint{{fmt.Sprintf("1-%d", min(9, len(in.Options))), "answer"}, {"0", "own words"}, {"↵", "send"}, {"esc", "back"}, {"pgdn", "scroll"}, {"n", "next that needs you"}}
	}
	list := []hint{{"ctrl+s", "send"}, {"esc", "back"}}
	if len(in.Options) > 0 {
		list = append(list, hint{"↑", "options"})
	}
	return append(list, hint{"pgdn", "scroll"}, hint{"ctrl+e", "editor"})
}

// askingKey takes the keys that the form of an answer has beside those of each form, and reports whether it was one.
func (f *form) askingKey(key string) (r reply, taken bool) {
	switch {
	case key == "pgdown":
		f.top += 5
	case key == "pgup":
		f.top -= 5
	case key == "n" && f.inputs[0].choosing():
		return reply{closed: true, values: f.values(), press: "n"}, true
	default:
		return reply{}, false
	}
	return reply{}, true
}
