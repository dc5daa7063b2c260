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

// A group is a part of the list.
type group struct {
	name  status.Group
	title string
	mark  mark // of an item that needs nobody
	style lipgloss.Style
}

// groups are the parts of the list, from the top.
var groups = []group{
	{status.NeedsYou, "needs you", stands, yellow},
	{status.AtWork, "at work", mark{"●", blue, "at work"}, blue},
	{status.Waiting, "waiting", mark{"○", dim, "waiting"}, plain},
	{status.Done, "done", mark{"·", dim, "done"}, dim},
}

// An item is an entry of the list.
type item struct {
	key    Key
	group  int // of groups
	depth  int // a branch below the task that it comes from
	name   string
	title  string // what is to be done; the name where that is not known or not enough
	mark   mark
	state  string
	facts  []string // what is known of it, the most important first
	since  time.Time
	needs  bool
	search string
}

// A list is the left pane.
type list struct {
	groups        []group
	items         []item // in the order of the screen
	shown         []int  // of items, those that the filter leaves
	at            int    // of shown
	top           int    // of the drawn lines
	width, height int
	dense         bool  // a line for each item
	titles        int   // columns of the longest title
	lines         []int // of shown, for each line that is drawn; -1 is no item
	filter        string
}

// set shows other items. The selection stays on its item, else where it was.
func (l *list) set(items []item) {
	was, any := l.selected()
	l.items, l.titles = items, leastTitle
	for _, it := range items {
		l.titles = max(l.titles, ansi.StringWidth(it.title)+2*it.depth)
	}
	l.sift()
	if any {
		l.choose(was.key)
	}
}

func (l *list) sift() {
	l.shown = nil
	for i, it := range l.items {
		if l.filter == "" || holds(it.search, l.filter) {
			l.shown = append(l.shown, i)
		}
	}
	l.at = max(0, min(l.at, len(l.shown)-1))
}

func (l *list) search(text string) {
	l.filter = text
	was, any := l.selected()
	l.sift()
	if any {
		l.choose(was.key)
	}
}

// choose selects an item, if it is there.
func (l *list) choose(key Key) bool {
	for i, at := range l.shown {
		if l.items[at].key == key {
			l.at = i
			return true
		}
	}
	return false
}

func (l *list) selected() (item, bool) {
	if l.at >= len(l.shown) {
		return item{}, false
	}
	return l.items[l.shown[l.at]], true
}

func (l *list) resize(width, height int) { l.width, l.height = width, height }

// nextNeed selects the next item that needs the person, from the top again after the last one.
func (l *list) nextNeed() bool {
	for i := 1; i <= len(l.shown); i++ {
		at := (l.at + i) % len(l.shown)
		if l.items[l.shown[at]].needs {
			l.at = at
			return true
		}
	}
	return false
}

// page is how many items are seen at once, roughly.
func (l *list) page() int {
	if l.dense {
		return l.height - len(l.groups)
	}
	return l.height / 3
}

func (l *list) press(key string) bool {
	by := 0
	switch key {
	case "j", "down":
		by = 1
	case "k", "up":
		by = -1
	case "pgdown", "ctrl+d":
		by = max(1, l.page())
	case "pgup", "ctrl+u":
		by = -max(1, l.page())
	case "g", "home":
		by = -len(l.shown)
	case "G", "end":
		by = len(l.shown)
	default:
		return false
	}
	l.at = max(0, min(l.at+by, len(l.shown)-1))
	return true
}

// view draws the groups with their items, a line each where the list has the whole width, else two.
func (l *list) view(focused bool, now time.Time) []string {
	var drawn []string
	l.lines = nil
	from, to := 0, 0 // the lines of the selected item
	for g, of := range l.groups {
		head := len(drawn)
		drawn = append(drawn, "")
		l.lines = append(l.lines, -1)
		n := 0
		for i, at := range l.shown {
			it := l.items[at]
			if it.group != g {
				continue
			}
			n++
			if i == l.at {
				from = len(drawn)
			}
			drawn = append(drawn, l.draw(it, i == l.at, focused, now)...)
			for len(l.lines) < len(drawn) {
				l.lines = append(l.lines, i)
			}
			if i == l.at {
				to = len(drawn)
			}
			if i == l.at && n == 1 {
				from = head
			}
		}
		if drawn[head] = bold.Render(fit(fmt.Sprintf(" %s%s %d", strings.ToUpper(of.title[:1]), of.title[1:], n), l.width)); n == 0 && g > 0 {
			drawn, l.lines = drawn[:head], l.lines[:head]
		}
	}
	l.top = max(0, min(l.top, from, len(drawn)-l.height))
	if to > l.top+l.height {
		l.top = to - l.height
	}
	l.top = max(0, min(l.top, len(drawn)-l.height))
	l.lines = l.lines[l.top:min(len(drawn), l.top+l.height)]
	drawn = drawn[l.top:min(len(drawn), l.top+l.height)]
	for len(drawn) < l.height {
		drawn = append(drawn, strings.Repeat(" ", l.width))
	}
	return drawn
}

const (
	leastTitle = 24 // columns of a title in a line
	ageColumns = 7
)

// draw is an item: its mark and title, a sentence about it, and its age.
func (l *list) draw(it item, selected, focused bool, now time.Time) []string {
	cursor, style := " ", plain
	if selected {
		cursor, style = ">", bold
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
	sign := it.mark.sign
	if !selected {
		sign = it.mark.style.Bold(true).Render(sign)
	}
	if l.dense {
		title := min(l.titles, max(leastTitle, (l.width-ageColumns-4)*5/12))
		text := fit(indent+it.title, title) + " " + dimUnless(selected, fit(it.sentence(), l.width-title-ageColumns-5)) + " " + fmt.Sprintf("%*s", ageColumns, old)
		return []string{style.Render(cursor + sign + " " + text)}
	}
	first := ends(clip(indent+it.title, l.width-len(old)-4), old, l.width-3)
	second := "   " + strings.Repeat("  ", it.depth) + it.sentence()
	return []string{style.Render(cursor + sign + " " + first), dim.Render(fit(second, l.width))}
}

func dimUnless(selected bool, text string) string {
	if selected {
		return text
	}
	return dim.Render(text)
}

// sentence is how an item stands, in words: what it needs, else its state and what is known.
func (it item) sentence() string {
	words := it.facts
	if !it.needs {
		words = append([]string{it.state}, words...)
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" }), "  ")
}

func (l *list) anyNeed() bool {
	for _, it := range l.items {
		if it.needs {
			return true
		}
	}
	return false
}
