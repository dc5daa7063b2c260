package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

// A group is a part of the list.
type group struct {
	name  status.Group
	title string
	mark  mark // of an item that needs nobody
	folds bool // to a word at the end, where space is short
}

// The groups that status does not have.
const (
	queued    status.Group = "queue"
	pipelines status.Group = "pipelines"
	branches  status.Group = "branches"
)

// groups are the parts of the list, from the top.
var groups = []group{
	{name: status.NeedsYou, title: "Needs you", mark: stands},
	{name: status.AtWork, title: "At work", mark: works},
	{name: queued, title: "Queue", mark: waits, folds: true},
	{name: pipelines, title: "Pipelines", mark: works, folds: true},
	{name: branches, title: "Branches", mark: ended, folds: true},
	{name: status.Done, title: "Done", mark: ended, folds: true},
}

// unfolding are the groups that are shown while there is space, the most important first.
var unfolding = []status.Group{branches, queued, pipelines, status.Done}

// Folded is the kind of the word for a group that is folded; the name is its title.
const Folded Kind = "folded"

// An item is an entry of the list.
type item struct {
	key      Key
	group    int // of groups
	depth    int // a branch below the task that it comes from
	name     string
	title    string // what is to be done; the name where that is not known or not enough
	mark     mark
	sentence string // what it needs, or how it stands
	work     work   // of a task at work
	since    time.Time
	needs    bool
	urgency  int
	today    bool // it ended on this day
	search   string
}

// A list is the left pane.
type list struct {
	groups        []group
	items         []item          // in the order of the screen
	shown         []item          // those that the filter leaves, and a word for each group that is folded
	opened        map[string]bool // the groups that the person has unfolded, by their titles
	kind          int             // of needs that are shown, of needKinds
	at            int             // of shown
	top           int             // of the drawn lines
	width, height int
	room          int   // lines for which groups are folded; 0 folds none
	dense         bool  // a line for each item
	titles        int   // columns of the longest title
	lines         []int // of shown, for each line that is drawn; -1 is no item
	filter        string
}

// needKinds are the kinds of needs by which the list is filtered; the urgencies of each.
var needKinds = []struct {
	name      string
	urgencies []int
}{{"all", []int{0, 1, 2, 3}}, {"questions", []int{0}}, {"verdicts", []int{2}}, {"trouble", []int{1, 3}}}

// set shows other items. The selection stays on its item, else where it was.
func (l *list) set(items []item) {
	l.items, l.titles = items, leastTitle
	for _, it := range items {
		l.titles = max(l.titles, ansi.StringWidth(it.title)+2*it.depth)
	}
	l.keep()
}

// keep sifts the items, and keeps the selection.
func (l *list) keep() {
	was, any := l.selected()
	l.sift()
	if any {
		l.choose(was.key)
	}
}

func (l *list) sift() {
	l.shown = make([]item, 0, len(l.items))
	folded := l.folded()
	for _, it := range l.items {
		if l.holds(it) && !folded[it.group] {
			l.shown = append(l.shown, it)
		}
	}
	for g := range l.groups {
		if folded[g] {
			l.shown = append(l.shown, item{key: Key{Folded, l.groups[g].title}, group: g, title: l.title(g)})
		}
	}
	l.at = max(0, min(l.at, len(l.shown)-1))
}

// holds reports whether an item is left by the filter.
func (l *list) holds(it item) bool {
	return (l.filter == "" || holds(it.search, l.filter)) && (!it.needs || slices.Contains(needKinds[l.kind].urgencies, it.urgency))
}

// count is how many items of a group there are.
func (l *list) count(g int) (n int) {
	for _, it := range l.items {
		if it.group == g {
			n++
		}
	}
	return n
}

// title is that of a group with its count. Of what is done it counts this day's, if there are any.
func (l *list) title(g int) string {
	today := 0
	for _, it := range l.items {
		if it.group == g && it.today {
			today++
		}
	}
	if today > 0 {
		return fmt.Sprintf("%s today %d", l.groups[g].title, today)
	}
	return fmt.Sprintf("%s %d", l.groups[g].title, l.count(g))
}

// folded are the groups that do not fit, unless the person has opened them or looks for something.
func (l *list) folded() map[int]bool {
	of := map[int]bool{}
	if l.room == 0 || l.filter != "" {
		return of
	}
	lines := make([]int, len(l.groups))
	for _, it := range l.items {
		if lines[it.group] == 0 {
			lines[it.group] = 1
		}
		lines[it.group]++
		if !l.dense {
			lines[it.group]++
		}
	}
	left := l.room - 1
	for g := range l.groups {
		if !l.groups[g].folds || l.opened[l.groups[g].title] {
			left -= lines[g]
		}
	}
	for _, name := range unfolding {
		g := slices.IndexFunc(l.groups, func(g group) bool { return g.name == name })
		if g < 0 || lines[g] == 0 || l.opened[l.groups[g].title] {
			continue
		}
		if of[g] = lines[g] > left; !of[g] {
			left -= lines[g]
		}
	}
	return of
}

// titlesOf are the titles of a group, a line each.
func (l *list) titlesOf(g int) string {
	text := l.groups[g].title + "\n"
	for _, it := range l.items {
		if it.group == g {
			text += "\n" + it.title
		}
	}
	return text
}

// open unfolds the group of a title, or folds all for "".
func (l *list) open(title string) {
	if title == "" {
		l.opened = nil
		l.keep()
		return
	}
	if l.opened == nil {
		l.opened = map[string]bool{}
	}
	l.opened[title] = true
	l.sift()
	for i, it := range l.shown {
		if l.groups[it.group].title == title {
			l.at = i
			return
		}
	}
}

func (l *list) search(text string) {
	l.filter = text
	l.keep()
}

// nextKind shows the needs of the next kind, and after the last one all.
func (l *list) nextKind() {
	l.kind = (l.kind + 1) % len(needKinds)
	l.keep()
}

// choose selects an item, if it is there.
func (l *list) choose(key Key) bool {
	at := slices.IndexFunc(l.shown, func(it item) bool { return it.key == key })
	if at >= 0 {
		l.at = at
	}
	return at >= 0
}

func (l *list) selected() (item, bool) {
	if l.at >= len(l.shown) {
		return item{}, false
	}
	return l.shown[l.at], true
}

func (l *list) resize(width, height int) { l.width, l.height = width, height }

// nextNeed selects the next item that needs the person, or for -1 the one before, from the top again after the last one.
func (l *list) nextNeed(by int) bool {
	for i := 1; i <= len(l.shown); i++ {
		at := (l.at + by*i + len(l.shown)) % len(l.shown)
		if l.shown[at].needs {
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

// view draws the groups with their items, a line each where the list has the whole width, else two; those that are folded in one line. It draws
// no more than is seen.
func (l *list) view(focused bool, now time.Time) []string {
	const head, words = -1, -2
	each := 2 // lines
	if l.dense {
		each = 1
	}
	type place struct{ what, group int } // what is an item of shown, or one of the above
	var lines []place
	from, to := 0, 0 // the lines of the selected item
	if len(l.shown) == 0 || l.shown[0].group != 0 {
		lines = append(lines, place{head, 0})
	}
	group := -1
	for i, it := range l.shown {
		if i == l.at {
			from = len(lines)
		}
		if it.key.Kind == Folded {
			lines = append(lines, place{words, 0})
			if l.at >= i {
				from, to = len(lines)-1, len(lines)
			}
			break
		}
		if it.group != group {
			group = it.group
			lines = append(lines, place{head, group})
		}
		for range each {
			lines = append(lines, place{i, group})
		}
		if i == l.at {
			to = len(lines)
		}
	}
	l.top = max(0, min(l.top, from, len(lines)-l.height))
	if to > l.top+l.height {
		l.top = to - l.height
	}
	var drawn []string
	l.lines = nil
	for n := l.top; n < min(len(lines), l.top+l.height); n++ {
		switch at := lines[n]; at.what {
		case head:
			drawn, l.lines = append(drawn, bold.Render(fit(l.head(at.group), l.width))), append(l.lines, -1)
		case words:
			text, first := l.words(focused)
			drawn, l.lines = append(drawn, text), append(l.lines, first)
		default:
			half := 0
			if n > 0 && lines[n-1] == at {
				half = 1
			}
			drawn, l.lines = append(drawn, l.draw(l.shown[at.what], at.what == l.at, focused, now)[half]), append(l.lines, at.what)
		}
	}
	for len(drawn) < l.height {
		drawn = append(drawn, strings.Repeat(" ", l.width))
	}
	return drawn
}

func (l *list) anyNeed() bool {
	return slices.ContainsFunc(l.items, func(it item) bool { return it.needs })
}
