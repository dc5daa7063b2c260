package terminal

import (
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// actKeys are the keys of acts by their names. All acts are in the menu, too.
var actKeys = []struct{ act, key string }{
	{"answer", "a"},
	{"approve", "y"},
	{"reject", "r"},
	{"merge", "M"},
	{"select", "S"},
	{"reopen", "o"},
	{"resume", "s"},
	{"finish", "f"},
	{"accept", "c"},
	{"resolve", "R"},
	{"stop", "x"},
	{"send", "m"},
	{"release", "u"},
	{"rollback", "b"},
	{"rollback-files", "b"},
	{"branch", "B"},
	{"remove", "X"},
	{"dequeue", "X"},
	{"drop-need", "u"},
	{"reset", "D"},
	{"cancel", "D"},
}

// keyOf is the key of an act, "" for none.
func keyOf(name string) string {
	for _, k := range actKeys {
		if k.act == name {
			return k.key
		}
	}
	return ""
}

// namesOf are the names of the acts that a key stands for.
func namesOf(key string) (names []string) {
	for _, k := range actKeys {
		if k.key == key {
			names = append(names, k.act)
		}
	}
	return names
}

// actsOf are the acts that a key stands for.
func actsOf(key string, acts []Act) []Act {
	var found []Act
	for _, a := range acts {
		if keyOf(a.Name) == key {
			found = append(found, a)
		}
	}
	return found
}

// generalKeys are the keys that work at any time, for the help.
var generalKeys = []hint{
	{"j k ↓ ↑", "move, scroll"},
	{"enter", "open; in an item: acts"},
	{"esc", "go back, drop the filter"},
	{"n", "next that needs you"},
	{"N", "earlier that needs you"},
	{"/", "find in the pane"},
	{"F", "filter what needs you"},
	{"P", "all projects"},
	{"t", "new task"},
	{"z", "undo the last act"},
	{"space", "what you can do with it"},
	{":", "find what to do"},
	{"tab", "the other pane"},
	{"1-6 [ ]", "tabs of the right pane"},
	{"g G", "the beginning, the end"},
	{"pgdn pgup", "a page"},
	{"h l ← →", "scroll to the sides"},
	{"{ }", "file before, after"},
	{"Y", "copy the command for it"},
	{"ctrl+t", "give or take the mouse"},
	{"ctrl+r", "read everything again"},
	{"ctrl+l", "draw again"},
	{"?", "this help"},
	{"q", "close; agents go on"},
}

// helpRows are the help in a width: the keys that work at any time beside those of the acts that can be done now, and the marks.
func helpRows(about string, acts []Act, opened time.Time, width int) (rows []row) {
	key := func(h hint) row {
		text := " " + fit(h.key, 10) + " " + h.does
		return row{text: text, draw: " " + bold.Render(fit(h.key, 10)) + " " + h.does}
	}
	left, right := []row{{text: "Anywhere", style: bold}}, []row(nil)
	for _, h := range generalKeys {
		left = append(left, key(h))
	}
	for _, a := range acts {
		k := keyOf(a.Name)
		if k == "" {
			continue
		}
		if right == nil {
			right = []row{{text: "This item: " + about, style: bold}}
			if len(a.Fields) == 1 && len(a.Fields[0].Options) > 0 {
				right = append(right, key(hint{"1-9", "answer with an option"}), key(hint{"0", "in your own words"}))
			}
		}
		right = append(right, key(hint{k, line(a.Label)}))
	}
	half := (width - 2) / 2
	if right != nil {
		right = append(right, row{})
	}
	right = append(right, row{text: "Marks", style: bold})
	var one row
	for _, m := range append(slices.Clone(marks), works, waits, ended) {
		word := fit(m.sign+" "+m.means, 14)
		if ansi.StringWidth(one.text)+15 > half {
			right, one = append(right, one), row{}
		}
		one.text, one.draw = one.text+" "+word, one.draw+" "+m.style.Bold(true).Render(m.sign)+word[len(m.sign):]
	}
	right = append(right, one)
	for _, p := range pageKeys {
		right = append(right, row{}, row{text: p.title, style: bold})
		for _, h := range p.keys {
			right = append(right, key(h))
		}
	}
	for i := range max(len(left), len(right)) {
		var l, r row
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		rows = append(rows, row{text: fit(l.text, half) + "  " + r.text, draw: l.drawn(half) + "  " + r.drawn(half)})
	}
	rows = append(rows, row{})
	s := &sheet{width: width, rows: rows}
	s.add(dim, "", "Agents that you start here get the environment of "+format.Clock(opened)+", when this screen was opened. Ids and commands are in the tab documents.")
	return s.rows
}
