package terminal

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// A dialog lies over the panes and gets all keys until it is closed.
type dialog interface {
	// update returns what the dialog has come to.
	update(tea.Msg) (reply, tea.Cmd)
	// view draws it in at most width by height, with the cursor where text is typed, nil for none.
	view(width, height int) ([]string, *tea.Cursor)
	// keys are those that work in it.
	keys() []hint
}

// A reply is what a dialog has come to: nothing yet, closed, or an act of the person.
type reply struct {
	closed bool
	act    *Act              // to begin: it may have fields, or lose something
	values map[string]string // with what was filled in
	sure   bool              // the person was asked
	edit   bool              // the text is to be edited by $EDITOR
	press  string            // a key of the screen that is to be pressed
	copy   string            // for the clipboard
}

// A hint is a key and what it does.
type hint struct{ key, does string }

// A note shows a text until a key is pressed.
type note struct {
	title string
	text  []string
	build func(width int) []row // in place of the text
	scroll
}

func (n *note) update(msg tea.Msg) (reply, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		return reply{closed: !n.press(key.String())}, nil
	}
	return reply{}, nil
}

func (n *note) keys() []hint { return []hint{{"j/k", "scroll"}, {"esc", "close"}} }

func (n *note) view(width, height int) ([]string, *tea.Cursor) {
	width = min(width-4, 96)
	s := &sheet{width: width}
	for _, l := range n.text {
		if l == "" {
			s.gap()
		}
		s.add(plain, "", l)
	}
	if n.build != nil {
		s.rows = n.build(width)
	}
	n.resize(width, max(0, min(len(s.rows), height-2)))
	n.set(s.rows)
	title := n.title
	if w := n.where(); w != "" {
		title += " (" + w + ")"
	}
	return framed(title, n.scroll.view(true), width), nil
}

// A question asks before something is lost. Nothing but y is a yes.
type question struct {
	act    Act
	values map[string]string
}

func (q *question) update(msg tea.Msg) (reply, tea.Cmd) {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return reply{}, nil
	}
	if key.String() == "ctrl+y" {
		return reply{copy: commandOf(q.act)}, nil
	}
	if key.String() == "y" || key.String() == "Y" {
		return reply{closed: true, act: &q.act, values: q.values, sure: true}, nil
	}
	return reply{closed: true}, nil
}

func (q *question) keys() []hint {
	return []hint{{"y", "yes"}, {"n", "no"}, {"ctrl+y", "copy the command"}}
}

func (q *question) view(width, _ int) ([]string, *tea.Cursor) {
	width = min(width-4, 72)
	rows := noticed(q.act, width)
	for _, piece := range wrapped(line(q.act.Loses), width) {
		rows = append(rows, yellow.Render(piece))
	}
	rows = append(rows, dim.Render(clip(commandOf(q.act), width)), "", "y  "+line(q.act.Label), "n  leave everything as it is")
	return framed("Are you sure?", rows, width), nil
}

// A menu lists acts; a number or enter chooses one.
type menu struct {
	title string
	acts  []Act
	at    int
}

func (m *menu) update(msg tea.Msg) (reply, tea.Cmd) {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return reply{}, nil
	}
	switch k := key.String(); k {
	case "j", "down":
		m.at = min(m.at+1, len(m.acts)-1)
	case "k", "up":
		m.at = max(m.at-1, 0)
	case "enter":
		return m.choose(m.at)
	case "esc", "q", "space":
		return reply{closed: true}, nil
	case "ctrl+y":
		return reply{copy: commandOf(m.acts[m.at])}, nil
	default:
		if len(k) == 1 && k[0] >= '1' && k[0] <= '9' {
			return m.choose(int(k[0] - '1'))
		}
	}
	return reply{}, nil
}

func (m *menu) choose(i int) (reply, tea.Cmd) {
	if i < 0 || i >= len(m.acts) {
		return reply{}, nil
	}
	return reply{closed: true, act: &m.acts[i]}, nil
}

func (m *menu) keys() []hint {
	return []hint{{"1-9", "choose"}, {"enter", "choose"}, {"ctrl+y", "copy the command"}, {"esc", "close"}}
}

func (m *menu) view(width, height int) ([]string, *tea.Cursor) {
	width = min(width-4, 72)
	var texts []string
	for i, a := range m.acts {
		texts = append(texts, number(i)+"  "+line(a.Label))
	}
	return framed(m.title, around(texts, m.at, width, height-2), width), nil
}

// around draws the texts about the chosen one, as many as lines are there.
func around(texts []string, chosen, width, lines int) (rows []string) {
	lines = max(1, lines)
	from := max(0, min(chosen-lines/2, len(texts)-lines))
	for i, text := range texts[from:min(len(texts), from+lines)] {
		if from+i == chosen {
			rows = append(rows, marked.Render(fit("> "+text, width)))
		} else {
			rows = append(rows, "  "+text)
		}
	}
	return rows
}

// number is the key of a choice; those after the ninth have none.
func number(i int) string {
	if i < 9 {
		return fmt.Sprint(i + 1)
	}
	return " "
}
