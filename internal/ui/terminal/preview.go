package terminal

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/status"
)

// usualPreview is how many lines the selected item has below the list, where it needs no more.
const usualPreview = 6

// preview are the lines about the selected item below the list of a screen with one pane: what needs the person with its options and the
// rest of the question, or how it stands. It takes at most half of the lines, and none of a screen that is too small for two parts.
func (m *Model) preview(width, height int) []string {
	it, any := m.list.selected()
	if !any || width < 60 || height < 11 {
		return nil
	}
	s := &sheet{width: width - 1}
	needs := m.needsOf(it.key)
	for _, n := range needs {
		mark := markOf(n.Kind)
		text := mark.sign + " " + line(n.Text)
		if !n.Since.IsZero() {
			text = ends(clip(text, s.width-8), age(n.Since, m.now()), s.width)
		}
		s.rows = append(s.rows, row{text: text, style: mark.style.Bold(true)})
		s.add(dim, "  ", n.Command)
	}
	if len(needs) == 0 {
		s.add(bold, "", it.title)
		s.add(plain, "", it.sentence())
	}
	if d := m.detail; d != nil && d.Task != nil && d.Task.Report != nil {
		r := d.Task.Report
		if q := r.Question; q != nil {
			for i, o := range q.Options {
				s.add(plain, "  ", numbered(i, o))
			}
			s.add(dim, "  ", strings.Join(strings.Fields(q.Text), " "))
		}
		if p := r.Progress; p != nil {
			s.add(dim, "  ", line(p.Text)+", "+age(p.At, m.now())+" ago")
		}
		if wait := r.WaitText(); wait != "" && len(needs) == 0 {
			s.add(dim, "", wait)
		}
	}
	return s.below(width, height, "… enter")
}

// below are the lines of a sheet below a list: usualPreview of them or as many as it has, half of the height at most.
func (s *sheet) below(width, height int, more string) []string {
	most := (height - 1) / 2
	n := min(most, max(usualPreview, len(s.rows)))
	lines := []string{dim.Render(strings.Repeat("─", width))}
	for i := range n {
		if i >= len(s.rows) {
			lines = append(lines, strings.Repeat(" ", width))
			continue
		}
		r := s.rows[i]
		text := r.text
		if i == n-1 && len(s.rows) > n {
			text = ends(clip(text, width-9), more, s.width)
		}
		lines = append(lines, r.style.Render(fit(" "+text, width)))
	}
	return lines
}

// needsOf are the needs of an item, in the words of the overview.
func (m *Model) needsOf(key Key) (needs []status.Need) {
	if m.overview == nil {
		return nil
	}
	for _, n := range m.overview.Needs {
		if keyOfNeed(n) == key {
			needs = append(needs, n)
		}
	}
	return needs
}
