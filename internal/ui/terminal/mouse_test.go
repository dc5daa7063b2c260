package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// at is where a text stands on the screen.
func (s *stage) at(text string) (x, y int) {
	s.t.Helper()
	for y, row := range strings.Split(ansi.Strip(s.View().Content), "\n") {
		if before, _, ok := strings.Cut(row, text); ok {
			return ansi.StringWidth(before), y
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, ansi.Strip(s.View().Content))
	return 0, 0
}

func (s *stage) click(text string) {
	s.t.Helper()
	x, y := s.at(text)
	s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// TestTheMouseDoesWhatKeysDo: it selects, opens, turns to a tab and scrolls, in one pane and in two, also when the list is scrolled. It
// begins no act, and a dialog keeps its keys.
func TestTheMouseDoesWhatKeysDo(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {120, 12}} {
		src := night(t)
		s := onStage(t, src, size[0], size[1])
		s.click("Describe the flags")
		if s.key().Name != "docs" || s.right {
			t.Errorf("%v: %v is selected, right %v", size, s.key(), s.right)
		}
		s.click("Needs you 3")
		if s.key().Name != "docs" {
			t.Errorf("%v: a heading selects %v", size, s.key())
		}
		s.click("Describe the flags")
		if !s.right {
			t.Errorf("%v: a second click opens nothing", size)
		}
		s.click("agents")
		if s.tab != 3 {
			t.Errorf("%v: tab %d", size, s.tab)
		}
		if s.press("esc"); s.right {
			t.Errorf("%v: esc stays", size)
		}
		x, y := s.at("✓ Parse")
		s.send(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
		if s.key().Name != "parser" {
			t.Errorf("%v: the wheel selects %v", size, s.key())
		}
		s.list.open("Queue") // which is folded where there is no space
		s.View()
		s.click("○ Add of no numbers")
		if s.key().Kind != Queued {
			t.Errorf("%v: in a scrolled list %v is selected", size, s.key())
		}
		s.press("g", "x")
		s.shows("Are you sure?")
		s.send(tea.MouseClickMsg{X: 5, Y: 4, Button: tea.MouseLeft})
		s.shows("Are you sure?")
		if len(src.done) > 0 {
			t.Errorf("%v: the mouse has done %v", size, src.done)
		}
	}
	s := onStage(t, night(t), 80, 24)
	s.press("?")
	s.shows("Keys (top)")
	s.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	if shown := ansi.Strip(s.View().Content); strings.Contains(shown, "Keys (top)") || !strings.Contains(shown, "Keys (") {
		t.Errorf("the wheel does not scroll the help:\n%s", shown)
	}
	s.press("esc", "n", "n", "r")
	s.write("bad")
	s.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	if f := s.dialog.(*form); f.inputs[f.at].text() != "bad" {
		t.Errorf("the wheel types %q", f.inputs[f.at].text())
	}
	s.press("esc", ":")
	s.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	if f := s.dialog.(*finder); f.typed != "" {
		t.Errorf("the wheel types %q", f.typed)
	}
	s = onStage(t, night(t), 120, 40)
	if s.View().MouseMode == tea.MouseModeNone {
		t.Error("the screen does not take the mouse")
	}
	s.press("ctrl+t")
	s.shows("the terminal has the mouse")
	if s.View().MouseMode != tea.MouseModeNone {
		t.Error("the terminal does not get the mouse")
	}
}

// TestACommandIsCopied: of what needs the person, of an act that is about to be done, and of what is proposed next.
func TestACommandIsCopied(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"Y"}, "ferrus answer q2 1"},
		{[]string{"x", "ctrl+y"}, "ferrus stop"},
		{[]string{"t", "ctrl+y"}, "ferrus branch"},
		{[]string{":", "ctrl+y"}, "ferrus answer"},
		{[]string{"n", "n", "r", "ctrl+y"}, "ferrus --branch parser reject"},
	} {
		s := onStage(t, night(t), 120, 40)
		s.press(c.keys[:len(c.keys)-1]...)
		_, cmd := s.Update(pressed(c.keys[len(c.keys)-1]))
		s.shows("copied: " + c.want)
		if cmd == nil || !strings.Contains(fmt.Sprint(cmd()), c.want) {
			t.Errorf("%q copies nothing", c.keys)
		}
	}
	src := night(t)
	src.overview.Needs = nil
	s := onStage(t, src, 120, 40)
	s.press("G", "Y")
	s.shows("there is no command to copy")
}

// TestWhatToDoIsFoundByItsWords: acts and keys by label, name and key; what is chosen happens as if its key had been pressed.
func TestWhatToDoIsFoundByItsWords(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 120, 40)
	s.press(":")
	s.write("stop")
	s.press("enter")
	s.shows("Are you sure?")
	s.press("y")
	if len(src.done) != 1 || !src.done[0].Same(stopAct) {
		t.Errorf("%v", src.done)
	}
	s = onStage(t, src, 120, 40)
	s.press(":")
	s.write("nothing like that")
	s.shows("nothing has these words")
	s.press("enter", "ctrl+u")
	s.write("next needs x")
	s.press("backspace", "enter")
	if s.key().Name != "docs" {
		t.Errorf("%v is selected", s.key())
	}
	s.press(":", "esc")
	if s.dialog != nil {
		t.Error("esc does not close it")
	}
	s.press(":", "down", "down", "up")
	if f := s.dialog.(*finder); f.at != 1 {
		t.Errorf("%d is chosen", f.at)
	}
	s.send(tea.PasteMsg{Content: "this help\x1b"})
	s.shows(": this help<U+001B>", "nothing has these words")
	all := entries(s.acts())
	for _, e := range all {
		if e.act == nil && screenKeys[e.key] == nil {
			t.Errorf("%s, %s, does nothing", e.key, e.label)
		}
	}
	if !slices.ContainsFunc(all, func(e entry) bool { return e.key == "q" }) || len(all) < 12 {
		t.Errorf("%d entries", len(all))
	}
}
