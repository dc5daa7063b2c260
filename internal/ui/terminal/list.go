package terminal

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A group is a part of the list.
type group struct {
	name        status.Group
	title, mark string
	style       lipgloss.Style
}

// groups are the parts of the list, from the top.
var groups = []group{
	{status.NeedsYou, "needs you", "!", red},
	{status.AtWork, "at work", "*", green},
	{status.Waiting, "waiting", ".", yellow},
	{status.Done, "done", "+", dim},
}

// An item is an entry of the list.
type item struct {
	key    Key
	group  int // of groups
	depth  int // a branch below the task that it comes from
	name   string
	state  string
	facts  []string // what is known of it, the most important first
	since  time.Time
	needs  bool
	search string
}

// A list is the left pane.
type list struct {
	items         []item // in the order of the screen
	shown         []int  // of items, those that the filter leaves
	at            int    // of shown
	top           int    // of the drawn lines
	width, height int
	filter        string
}

// set shows other items. The selection stays on its item, else where it was.
func (l *list) set(items []item) {
	was, any := l.selected()
	l.items = items
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

func (l *list) press(key string) bool {
	by := 0
	switch key {
	case "j", "down":
		by = 1
	case "k", "up":
		by = -1
	case "pgdown", "ctrl+d":
		by = max(1, l.height/3)
	case "pgup", "ctrl+u":
		by = -max(1, l.height/3)
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

// view draws the groups with their items, two lines each.
func (l *list) view(focused bool, now time.Time) []string {
	var drawn []string
	from, to := 0, 0 // the lines of the selected item
	for g, of := range groups {
		head := len(drawn)
		drawn = append(drawn, "")
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
			if i == l.at {
				to = len(drawn)
			}
			if i == l.at && n == 1 {
				from = head
			}
		}
		drawn[head] = of.style.Bold(true).Render(fit(fmt.Sprintf("%s (%d)", of.title, n), l.width))
	}
	l.top = max(0, min(l.top, from, len(drawn)-l.height))
	if to > l.top+l.height {
		l.top = to - l.height
	}
	l.top = max(0, min(l.top, len(drawn)-l.height))
	drawn = drawn[l.top:min(len(drawn), l.top+l.height)]
	for len(drawn) < l.height {
		drawn = append(drawn, strings.Repeat(" ", l.width))
	}
	return drawn
}

// draw is an item in two lines: what it is and how it stands, then what is known of it.
func (l *list) draw(it item, selected, focused bool, now time.Time) []string {
	mark, style := "  ", plain
	if selected {
		mark, style = "> ", bold
		if focused {
			style = marked.Bold(true)
		}
	}
	age := ""
	if !it.since.IsZero() {
		age = format.Duration(max(time.Second, now.Sub(it.since)))
	}
	indent := strings.Repeat("  ", it.depth)
	if it.depth > 0 {
		indent = indent[2:] + "└ "
	}
	g := groups[it.group]
	state := it.state
	if it.needs { // the need says it
		state = ""
	}
	first := ends(clip(mark+indent+g.mark+" "+it.name, l.width-len(state)-1), state, l.width)
	second := ends(clip("    "+strings.Repeat("  ", it.depth)+strings.Join(it.facts, "  "), l.width-len(age)-1), age, l.width)
	return []string{style.Render(first), dim.Render(second)}
}

func (l *list) anyNeed() bool {
	for _, it := range l.items {
		if it.needs {
			return true
		}
	}
	return false
}
