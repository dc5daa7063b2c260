package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

// head is the title of a group with its count; that of the needs has the kinds by which they are filtered.
func (l *list) head(g int) string {
	text := " " + l.title(g)
	if g > 0 || l.count(0) == 0 {
		return text
	}
	var kinds []string
	for i, k := range needKinds {
		n := 0
		for _, it := range l.items {
			if it.needs && slices.Contains(k.urgencies, it.urgency) {
				n++
			}
		}
		word := fmt.Sprintf("%s %d", k.name, n)
		switch {
		case i == 0:
			word = k.name
		case n == 0 && i != l.kind:
			continue
		}
		style := dim
		if i == l.kind {
			style = plain.Underline(true)
			if i > 0 {
				word = "[" + word + "]"
			}
		}
		kinds = append(kinds, style.Render(word))
	}
	return bold.Render(text) + "  " + strings.Join(kinds, dim.Render(" · "))
}

// words are the groups that are folded, in a line, and the first of them.
func (l *list) words(focused bool) (text string, at int) {
	var all []string
	for i, it := range l.shown {
		if it.key.Kind != Folded {
			continue
		}
		style := dim
		if len(all) == 0 {
			at = i
		}
		title := it.title
		if i == l.at {
			if style = bold; focused {
				style = marked.Bold(true)
			}
		}
		all = append(all, style.Render(title))
	}
	if len(all) == 0 {
		return "", len(l.shown)
	}
	cursor := " "
	if l.at >= at {
		cursor = cursorOf(focused)
	}
	return fit(cursor+strings.Join(all, "   "), l.width), at
}

// cursorOf marks the selected item, so that it is seen which pane has the focus.
func cursorOf(focused bool) string {
	if focused {
		return "▌"
	}
	return "│"
}

const (
	leastTitle = 24 // columns of a title in a line
	ageColumns = 7
)

// draw is an item: its mark and title, a sentence about it, and its age.
func (l *list) draw(it item, selected, focused bool, now time.Time) []string {
	cursor, style := " ", plain
	if selected {
		cursor, style = cursorOf(focused), bold
		if focused {
			style = marked.Bold(true)
		}
	}
	old := ""
	if !it.since.IsZero() {
		old = age(it.since, now)
	}
	indent := strings.Repeat("  ", it.depth)
	if it.depth > 0 {
		indent = indent[2:] + "└ "
	}
	sign, name := it.mark.sign, bold
	if !selected {
		sign = it.mark.style.Bold(true).Render(sign)
	}
	if !it.needs {
		name = plain
	}
	if l.dense {
		title := min(l.titles, max(leastTitle, (l.width-ageColumns-4)*5/12))
		room := l.width - title - ageColumns - 6
		how := fit(it.sentence, room)
		if it.work.does != "" {
			how = it.work.draw(room, false, !selected)
		}
		age := fmt.Sprintf("%*s ", ageColumns, old)
		if !selected {
			age = dim.Render(age)
		}
		return []string{style.Render(cursor + sign + " " + styled(name, fit(indent+it.title, title), !selected) + " " + how + " " + age)}
	}
	title := clip(indent+it.title, l.width-len(old)-6)
	first := cursor + sign + " " + styled(name, title, !selected)
	if selected {
		first = style.Render(fit(ends(first, old, l.width-1), l.width))
	} else {
		first = fit(ends(first, dim.Render(old), l.width-1), l.width)
	}
	margin := "   " + strings.Repeat("  ", it.depth)
	second := dim.Render(it.sentence)
	if it.work.does != "" {
		second = it.work.draw(l.width-len(margin)-1, true, true)
	}
	return []string{first, fit(margin+second, l.width)}
}

// styled is a text in a style, where it is to have one of its own.
func styled(style lipgloss.Style, text string, own bool) string {
	if !own {
		return text
	}
	return style.Render(text)
}

// A work is how a task at work stands.
type work struct {
	agent, does    string
	step           int // of status.Steps
	failed, most   int // of its checks
	size           bool
	added, deleted int
	cost           string
}

// sentence is the work in words.
func (w work) sentence() string {
	parts := []string{strings.TrimSpace(w.agent + " " + w.does)}
	if w.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tries failed", w.failed, w.most))
	}
	if w.size {
		parts = append(parts, fmt.Sprintf("+%d -%d", w.added, w.deleted))
	}
	return strings.Join(slices.DeleteFunc(append(parts, w.cost), func(p string) bool { return p == "" }), ", ")
}

// draw is the work in a width: who does what, the steps, the failed checks, the size and the cost. Where that is too narrow the cost goes first,
// then the size, then the agent.
func (w work) draw(width int, long, coloured bool) string {
	paint := func(style lipgloss.Style, text string) string { return styled(style, text, coloured) }
	bar := ""
	for i := 1; i <= status.Steps; i++ {
		switch {
		case i < w.step:
			bar += paint(green, "▰")
		case i == w.step:
			bar += paint(blue, "▰")
		default:
			bar += paint(dim, "▱")
		}
	}
	text, failed := fit(w.does, 6)+" "+bar+" ", ""
	if w.failed > 0 {
		failed = fmt.Sprintf("%d/%d", w.failed, w.most)
	}
	if long && w.failed > 0 {
		failed += " failed"
	}
	if long {
		text += " " + fit(failed, 10)
	} else {
		text += fit(failed, max(3, len(failed)))
	}
	size := ""
	if w.size {
		size = " " + paint(green, fmt.Sprintf("+%d", w.added)) + " " + paint(red, fmt.Sprintf("-%d", w.deleted))
	}
	least := ansi.StringWidth(strings.TrimRight(ansi.Strip(text), " "))
	switch all := 12 + ansi.StringWidth(text) + ansi.StringWidth(size); {
	case w.agent == "":
	case all <= width:
		text = fit(w.agent, 11) + " " + text
	case 12+least <= width:
		text, size = fit(w.agent, 11)+" "+text, ""
	}
	if ansi.StringWidth(text)+ansi.StringWidth(size) <= width {
		text += size
	}
	if w.cost != "" && ansi.StringWidth(text)+len(w.cost)+2 <= width {
		text = ends(text, paint(dim, w.cost), width)
	}
	return fit(text, width)
}
