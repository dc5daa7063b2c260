package terminal

import tea "charm.land/bubbletea/v2"

// bodyTop is the first line of the panes: the header is above.
const bodyTop = 1

// mouse takes a click or a turn of the wheel. A click selects an item, and opens the one that is selected; on a title it turns to the tab or
// the pane. The wheel moves what is below the pointer. Each does what a key does, and no act begins by the mouse alone.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	wheel := map[tea.MouseButton]string{tea.MouseWheelDown: "j", tea.MouseWheelUp: "k"}[at.Button]
	_, click := msg.(tea.MouseClickMsg)
	click = click && at.Button == tea.MouseLeft
	left, right := m.columns()
	inRight := left == 0 || right > 0 && at.X > left
	switch {
	case m.dialog != nil:
		if n, ok := m.dialog.(*note); ok && wheel != "" { // in another dialog its key would be typed
			n.press(wheel)
		}
	case m.page != nil:
		m.page.press(m, wheel)
	case m.filter != nil:
	case wheel != "" && inRight:
		m.tabs[m.tab].press(wheel)
	case wheel != "":
		if m.list.press(wheel) {
			return m.selected()
		}
	case click && inRight && (at.Y == bodyTop && left == 0 || at.Y == bodyTop+1 && left > 0):
		if tab, ok := m.tabAt(at.X); ok {
			return m.turn(tab)
		}
	case click && inRight && !m.right:
		return m.otherPane()
	case click && !inRight:
		if m.right {
			m.otherPane()
		}
		if !m.list.click(at.Y - bodyTop) {
			return nil
		}
		if it, ok := m.list.selected(); ok && it.key == m.of && m.detail != nil {
			return m.enter()
		}
		return m.selected()
	}
	return nil
}

// tabAt is the tab whose name stands at a column of the titles.
func (m *Model) tabAt(x int) (tab int, ok bool) {
	left, _ := m.columns()
	at := 2
	if left > 0 {
		at += left + 2
	}
	for i, t := range m.tabs {
		n := len(t.name())
		if i == m.tab {
			n += 2 // its brackets
		}
		if x >= at && x < at+n {
			return i, true
		}
		at += n + 2
	}
	return 0, false
}

// click selects the item at a line of the list, if one is there.
func (l *list) click(y int) bool {
	if y < 0 || y >= len(l.lines) || l.lines[y] < 0 {
		return false
	}
	l.at = l.lines[y]
	return true
}

// copyCommand copies the command that settles the selected item, or the next one that is proposed for it.
func (m *Model) copyCommand() tea.Cmd {
	command := ""
	if needs := m.needsOf(m.of); len(needs) > 0 {
		command = needs[0].Command
	} else if d := m.detail; d != nil && d.Task != nil && len(d.Task.Report.Next) > 0 {
		command = d.Task.Report.Next[0].Command
	} else if d != nil && d.Run != nil && len(d.Run.Next) > 0 {
		command = d.Run.Next[0].Command
	}
	if command == "" {
		m.say("there is no command to copy", false)
		return nil
	}
	return m.toClipboard(line(command))
}

// toClipboard gives a text to the clipboard of the terminal, which may not take it: the message shows what to copy by hand.
func (m *Model) toClipboard(text string) tea.Cmd {
	m.say("copied: "+text, false)
	return tea.SetClipboard(text)
}

// switchMouse gives the mouse back to the terminal, which selects text with it, or takes it again.
func (m *Model) switchMouse() tea.Cmd {
	m.noMouse = !m.noMouse
	if m.noMouse {
		m.say("the terminal has the mouse; ctrl+t takes it again", false)
	} else {
		m.say("the screen has the mouse; ctrl+t gives it back", false)
	}
	return nil
}
