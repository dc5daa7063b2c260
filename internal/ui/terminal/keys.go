package terminal

import (
	"time"

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
	{"g G", "go to the beginning, to the end"},
	{"pgdn pgup", "move by a page"},
	{"h l ← →", "scroll to the sides (right pane)"},
	{"{ }", "go to the file or agent before, after"},
	{"tab", "go to the other pane"},
	{"enter", "look closer; in the right pane: what you can do"},
	{"esc", "go back, drop the filter"},
	{"1-6 [ ]", "tabs of the right pane; of a question that is shown, its options"},
	{"n", "go to the next item that needs you"},
	{"space", "what you can do with the item"},
	{"t", "new task"},
	{"z", "undo the last act"},
	{":", "find what to do by its words"},
	{"/", "filter the pane"},
	{"F", "filter what needs you by its kind"},
	{"P", "go to all projects"},
	{"Y", "copy the command that settles the item"},
	{"ctrl+t", "give the mouse to the terminal, or take it"},
	{"ctrl+r", "read everything again"},
	{"?", "this help"},
	{"q", "close the screen; runs go on"},
}

// helpText is the help: the keys that work at any time, then those of the acts that can be done now.
func helpText(acts []Act, opened time.Time) []string {
	var text []string
	for _, h := range generalKeys {
		text = append(text, fit(h.key, 10)+" "+h.does)
	}
	first := true
	for _, a := range acts {
		if k := keyOf(a.Name); k != "" {
			if first {
				text, first = append(text, "", "The selected item:"), false
			}
			text = append(text, fit(k, 10)+" "+line(a.Label))
		}
	}
	return append(text, "", "Marks of what needs you: "+legend(marks[:5])+",", legend(marks[5:])+".", "Marks of other items: "+legend([]mark{works, waits, ended})+".",
		"A run that you start here gets the environment of this screen, as it was when it was opened: "+format.Clock(opened)+".")
}
