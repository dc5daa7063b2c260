package terminal

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

// wayWords say how a new task is worked on, by the names of acts, and what their fields are called there.
var (
	wayWords  = map[string]string{"run": "here and now", "task-branch": "on a branch of its own", "queue": "into the queue", "attempts": "several attempts", "variant": "by another agent"}
	wayFields = map[string]string{"name": "name", "number": "how many", "agent": "which"}
)

// ofTask reports whether an act gives a task by the text of its first field.
func ofTask(a Act) bool { return len(a.Fields) > 0 && a.Fields[0].Kind == status.TextField }

// newTaskForm asks for a task, and in which of several ways it is worked on: at first in one that was begun and closed, else on a branch.
func newTaskForm(acts []Act, drafts map[string]map[string]string) *form {
	f := &form{}
	for _, a := range acts {
		if ofTask(a) {
			f.ways = append(f.ways, a)
		}
	}
	way := slices.IndexFunc(f.ways, func(a Act) bool { return drafts[draftOf(a)] != nil })
	if way < 0 {
		way = max(0, slices.IndexFunc(f.ways, func(a Act) bool { return a.Name == "task-branch" }))
	} else {
		f.chosen = true
	}
	f.take(way, drafts[draftOf(f.ways[way])])
	f.focus(0)
	return f
}

// take goes over to another way. What was typed stays.
func (f *form) take(way int, values map[string]string) {
	f.way, f.does = way, f.ways[way]
	old := f.inputs
	f.inputs = nil
	for _, field := range f.does.Fields {
		in := newInput(field, values[field.Name])
		if at := slices.IndexFunc(old, func(o *input) bool { return o.Name == field.Name }); at >= 0 {
			in = old[at]
		}
		f.inputs = append(f.inputs, in)
	}
}

// onWays reports whether the ways of a new task have the focus.
func (f *form) onWays() bool { return f.ways != nil && f.at == len(f.inputs) }

// wayKey takes the keys that choose a way: a number while nothing is typed, and all in the list of ways.
func (f *form) wayKey(key string) (taken bool) {
	var to int
	switch number := len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < len(f.ways); {
	case f.ways == nil:
		return false
	case number && (f.onWays() || f.at == 0 && !f.chosen && f.inputs[0].text() == ""):
		f.chosen = true
		f.take(int(key[0]-'1'), nil)
		f.focus(0)
		return true
	case !f.onWays():
		return false
	case key == "j" || key == "down" || key == "space":
		to = (f.way + 1) % len(f.ways)
	case key == "k" || key == "up":
		to = (f.way + len(f.ways) - 1) % len(f.ways)
	case key == "enter":
		f.focus(0)
		return true
	default:
		return false
	}
	f.take(to, nil)
	f.at = len(f.inputs)
	return true
}

// newTaskView draws the form of a new task.
func (f *form) newTaskView(width, height int) ([]string, *tea.Cursor) {
	const words = 31 // columns of a way
	width = min(width-4, 70)
	area := f.inputs[0].area
	area.SetWidth(width)
	area.SetHeight(max(1, min(6, height-len(f.ways)-len(f.inputs)-len(f.does.Notices)-7)))
	rows := []string{bold.Render("What is to be done")}
	cursor := area.Cursor()
	if cursor != nil && f.at == 0 {
		cursor.X, cursor.Y = cursor.X+2, cursor.Y+len(rows)+1
	}
	rows = append(append(rows, f.inputs[0].areaRows(width)...), "", bold.Render("How"))
	for i, a := range f.ways {
		sign, style := "( ) ", plain
		if i == f.way {
			sign, style = "(•) ", bold
		}
		text := style.Render(fit(sign+wayWords[a.Name], words))
		if i == f.way && f.onWays() {
			text = marked.Render(fit(sign+wayWords[a.Name], words))
		}
		if i != f.way || len(f.inputs) == 1 {
			rows = append(rows, text)
			continue
		}
		for n, in := range f.inputs[1:] {
			label := wayFields[in.Name] + ": "
			room := width - words - ansi.StringWidth(label)
			in.line.SetWidth(max(1, room-1))
			if at := in.line.Cursor(); at != nil && f.at == n+1 {
				at.X, at.Y = at.X+words+ansi.StringWidth(label)+2, len(rows)+1
				cursor = at
			}
			rows = append(rows, text+label+fit(in.line.View(), room))
			text = fit("", words)
		}
	}
	rows = append(rows, "")
	rows = append(rows, noticed(f.does, width)...)
	if f.wrong != "" {
		rows = append(rows, red.Render(clip(f.wrong, width)))
	} else {
		rows = append(rows, dim.Render(clip(commandOf(f.does), width)))
	}
	if f.onWays() {
		cursor = nil
	}
	return framed("New task", rows[:min(len(rows), max(1, height-2))], width), cursor
}

// newTaskKeys are the keys of the form of a new task.
func (f *form) newTaskKeys() []hint {
	list := []hint{{"ctrl+s", "send"}, {"tab", "field"}}
	switch {
	case f.onWays():
		list = append(list, hint{"space", "choose"})
	case f.at == 0 && !f.chosen && f.inputs[0].text() == "":
		list = append(list, hint{fmt.Sprintf("1-%d", len(f.ways)), "how"}, hint{"ctrl+e", "editor"})
	default:
		list = append(list, hint{"ctrl+e", "editor"})
	}
	return append(list, hint{"ctrl+y", "copy the command"}, hint{"esc", "close, the text stays"})
}
