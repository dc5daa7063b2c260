package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// usualPreview is how many lines the selected item has below the list, with the line above it, where it needs no more; leastBody is how many
// lines there must be for two parts.
const (
	usualPreview = 6
	leastBody    = 12
)

// preview are the lines about the selected item below the list of a screen with one pane: what needs the person with its options and the
// rest of the question, or how it stands. It takes at most half of the lines, and none of a screen that is too small for two parts.
func (m *Model) preview(width, height int) []string {
	it, any := m.list.selected()
	if !any || width < 60 || height < leastBody {
		return nil
	}
	s := &sheet{width: width - 1}
	needs := m.needsOf(it.key)
	for _, n := range needs {
		s.need(n, m.now())
	}
	if len(needs) == 0 {
		s.add(bold, "", it.title)
		s.add(plain, "", it.sentence)
	}
	if it.key.Kind == Folded {
		s.add(dim, "", strings.ReplaceAll(m.detail.Text, "\n", "  "))
	}
	if d := m.detail; d != nil && d.Task != nil && d.Task.Report != nil {
		r := d.Task.Report
		if q := r.Question; q != nil {
			s.rows = append(s.rows, row{text: "  " + background(q.Text), style: dim})
		}
		if sub := r.Submission; sub != nil && r.State == state.Reviewing {
			s.rows = append(s.rows, row{text: "  " + strings.Join(rowsOf(sub.Text), " "), style: dim})
		}
		if p := r.Progress; p != nil {
			s.add(dim, "  ", line(p.Text)+", "+age(p.At, m.now())+" ago")
		}
		if wait := r.WaitText(); wait != "" && len(needs) == 0 {
			s.add(dim, "", "waits "+line(wait))
		}
	}
	return s.below(width, height, "↵ all")
}

// background is the text of a question in a line, without its first one, which says what is asked.
func background(text string) string {
	rest := rowsOf(text)
	if len(rest) > 1 {
		rest = rest[1:]
	}
	return strings.Join(strings.Fields(strings.Join(rest, " ")), " ")
}

// need is what needs the person: the sentence with who asks and since when, and the options by their numbers.
func (s *sheet) need(n status.Need, now time.Time) {
	mark := markOf(n.Kind)
	text, asked := mark.sign+" "+line(n.Text), ""
	if !n.Since.IsZero() {
		asked = age(n.Since, now)
	}
	if n.By != "" {
		asked = strings.TrimSuffix(line(n.By)+" asks, "+asked, ", ")
	}
	room := s.width - ansi.StringWidth(asked) - 2
	s.rows = append(s.rows, row{text: ends(clip(text, room), asked, s.width), draw: ends(mark.style.Bold(true).Render(clip(text, room)), dim.Render(asked), s.width)})
	s.options(n.Options)
	if n.By == "" { // a question is answered here
		s.add(dim, "  ", n.Command)
	}
}

// options are those of a question, numbered; the first one is recommended.
func (s *sheet) options(list []string) {
	for i, o := range list {
		after, number := "", fmt.Sprint(i+1)
		if i == 0 && len(list) > 1 {
			after = "recommended"
		}
		text := clip("  "+numbered(i, o), s.width-len(after)-1)
		s.rows = append(s.rows, row{text: ends(text, after, s.width), draw: ends(strings.Replace(text, number, bold.Render(number), 1), dim.Render(after), s.width)})
	}
}

// below are the lines of a sheet below a list: usualPreview of them or as many as it has, half of the height at most.
func (s *sheet) below(width, height int, more string) []string {
	n := min(height/2, max(usualPreview, len(s.rows)+1)) - 1
	lines := []string{dim.Render(strings.Repeat("─", width))}
	for i := range n {
		if i >= len(s.rows) {
			lines = append(lines, strings.Repeat(" ", width))
			continue
		}
		r := s.rows[i]
		if i == n-1 && (len(s.rows) > n || ansi.StringWidth(r.text) > s.width) {
			r = row{text: ends(clip(r.text, s.width-len(more)-1), more, s.width), style: r.style}
		}
		lines = append(lines, " "+r.drawn(s.width))
	}
	return lines
}

// needsOf are the needs of an item, in the words of the overview.
func (m *Model) needsOf(key Key) []status.Need {
	if m.overview == nil {
		return nil
	}
	return needsIn(m.overview, key)
}
