package main

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli/status"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
)

var windows = [][2]int{{50, 12}, {80, 24}, {120, 40}}

const longTitle = "Make the failing test of the empty slice pass on every system"

// TestTheStatusFitsItsWindow: the title and the state are always seen, the state in one piece, whatever the window's size
// is and becomes.
func TestTheStatusFitsItsWindow(t *testing.T) {
	t.Parallel()
	dir := sleeping(t, longTitle)
	e, err := engine.Open(project.At(dir, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	now, err := e.View()
	if err == nil {
		_, err = e.Ask(t.Context(), now, strings.Repeat("May the public signature of Sum be changed in this release?\n", 20), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	fits := func(columns, rows int) func(string) bool {
		return func(shown string) bool {
			lines := strings.Split(shown, "\n")
			top := strings.Join(lines[:min(3, len(lines))], " ")
			return len(lines) <= rows && strings.Contains(shown, "waits for an answer") &&
				strings.Contains(strings.ReplaceAll(strings.Join(strings.Fields(top), " "), " … ", " "), longTitle)
		}
	}
	for _, size := range windows {
		p, cmd := atTerminal(t, dir, size[0], size[1], "status", "--watch")
		p.eventually(t, "the title and the state", fits(size[0], size[1]))
		for _, other := range windows[:1] {
			if err := p.resize(other[0], other[1]); err != nil {
				t.Fatal(err)
			}
			p.again(t, status.ScreenRest, 1)
			p.eventually(t, "the title and the state, resized", fits(other[0], other[1]))
		}
		if err := p.write("\x03"); err != nil {
			t.Fatal(err)
		}
		_ = p.wait(cmd)
	}
}

// TestLiveLinesLeaveNothingBehind: they are erased whole, in a window that has become narrower, and after ctrl-C.
func TestLiveLinesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	dir := sleeping(t, longTitle+" 世界世界世界世界世界世界")
	for _, size := range windows[2:] {
		p, cmd := atTerminal(t, dir, size[0], size[1], "resume")
		childIn(t, dir+"/child")
		p.shows(t, "writes                Make")
		p.shows(t, "executor-1   command") // nothing but the time changes any more
		for _, other := range [][2]int{{80, 24}, {50, 12}} {
			if err := p.resize(other[0], other[1]); err != nil {
				t.Fatal(err)
			}
			p.again(t, "writes                Make", 2)
			p.eventually(t, "one live line", func(shown string) bool { return strings.Count(shown, "writes                Make") == 1 })
		}
		if err := p.write("\x03"); err != nil {
			t.Fatal(err)
		}
		_ = p.wait(cmd)
		shown := p.screen.String()
		if strings.Contains(shown, "writes                Make") || strings.Contains(shown, "writwri") || strings.Contains(shown, "^C") {
			t.Errorf("at %v live lines are left:\n%s", size, shown)
		}
	}
}
