package terminal

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// An entry of the finder is an act of the person, or a key of the screen.
type entry struct {
	key, label string
	act        *Act // nil for a key of the screen
}

// A finder finds what can be done by what is typed: acts and keys, by their labels and names.
type finder struct {
	all   []entry
	typed string
	at    int
}

// entries are what a screen can do now: its acts, then its keys of one press.
func entries(acts []Act) (all []entry) {
	for i, a := range acts {
		all = append(all, entry{keyOf(a.Name), line(a.Label), &acts[i]})
	}
	for _, h := range generalKeys {
		if !strings.Contains(h.key, " ") && !slices.Contains([]string{":", "enter", "esc"}, h.key) {
			all = append(all, entry{key: h.key, label: h.does})
		}
	}
	return all
}

// found are the entries that have every typed word.
func (p *finder) found() (list []entry) {
	for _, e := range p.all {
		text := e.label + " " + e.key
		if e.act != nil {
			text += " " + e.act.Name
		}
		fits := true
		for word := range strings.FieldsSeq(p.typed) {
			fits = fits && holds(text, word)
		}
		if fits {
			list = append(list, e)
		}
	}
	return list
}

func (p *finder) update(msg tea.Msg) (reply, tea.Cmd) {
	if pasted, ok := msg.(tea.PasteMsg); ok {
		p.typed, p.at = p.typed+line(pasted.Content), 0
		return reply{}, nil
	}
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return reply{}, nil
	}
	list := p.found()
	p.at = max(0, min(p.at, len(list)-1))
	switch key := press.String(); key {
	case "esc":
		return reply{closed: true}, nil
	case "down", "ctrl+n", "tab":
		p.at = min(p.at+1, max(0, len(list)-1))
	case "up", "ctrl+p", "shift+tab":
		p.at = max(p.at-1, 0)
	case "backspace":
		if typed := []rune(p.typed); len(typed) > 0 {
			p.typed, p.at = string(typed[:len(typed)-1]), 0
		}
	case "ctrl+u":
		p.typed, p.at = "", 0
	case "ctrl+y":
		if len(list) > 0 && list[p.at].act != nil {
			return reply{copy: commandOf(*list[p.at].act)}, nil
		}
	case "enter":
		if len(list) > 0 {
			return reply{closed: true, act: list[p.at].act, press: list[p.at].key}, nil
		}
	default:
		p.typed, p.at = p.typed+press.Text, 0
	}
	return reply{}, nil
}

func (p *finder) keys() []hint {
	return []hint{{"enter", "do it"}, {"↓↑", "choose"}, {"ctrl+y", "copy its command"}, {"esc", "close"}}
}

func (p *finder) view(width, height int) ([]string, *tea.Cursor) {
	width = min(width-4, 72)
	list := p.found()
	p.at = max(0, min(p.at, len(list)-1))
	typed := clip(p.typed, width-2)
	var texts []string
	for _, e := range list {
		texts = append(texts, fit(e.key, 8)+e.label)
	}
	rows := append([]string{": " + typed}, around(texts, p.at, width, height-3)...)
	if len(list) == 0 {
		rows = append(rows, dim.Render("  nothing has these words"))
	}
	cursor := tea.NewCursor(4+len([]rune(typed)), -1)
	return framed("What do you want to do?", rows, width), cursor
}
