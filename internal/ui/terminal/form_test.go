package terminal

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/ferrus-go/ferrus/internal/status"
)

var textAct = Act{Name: "queue", Label: "New task", Args: []string{"queue", "--", "{task}"}, Fields: []status.Field{{Name: "task", Label: "Task", Kind: status.TextField}}}

// TestAFormKeepsATextAsItIs: the area turns tabs into spaces, and ends after 10,000 lines.
func TestAFormKeepsATextAsItIs(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("a line\n", 12_000))
	for _, text := range []string{"if x {\n\treturn\n}", long, "plain\ntext", "a\r\nb"} {
		if got := newForm(textAct, map[string]string{"task": text}).values()["task"]; got != text {
			t.Errorf("of %d bytes %d are left", len(text), len(got))
		}
	}
	f := newForm(textAct, map[string]string{"task": "before"})
	f.update(tea.PasteMsg{Content: "\n\tone\r\n\ttwo"})
	if got := f.values()["task"]; got != "before\n\tone\n\ttwo" {
		t.Errorf("pasted: %q", got)
	}
	f.update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	f.update(tea.PasteMsg{Content: "y"})
	if got := f.values()["task"]; got != "before\n\tone\n\ttwo" || !strings.Contains(f.wrong, "ctrl+e") {
		t.Errorf("after a key: %q, %q", got, f.wrong)
	}
	f = newForm(textAct, map[string]string{"task": "before"})
	f.update(tea.PasteMsg{Content: long})
	if got := f.values()["task"]; got != "before" || f.wrong == "" {
		t.Errorf("a text that is too long for the area: %d bytes, %q", len(got), f.wrong)
	}
}

// TestEnterEndsEachLineOfAForm: after 99 lines it did nothing.
func TestEnterEndsEachLineOfAForm(t *testing.T) {
	f := newForm(textAct, nil)
	for range 150 {
		f.update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		f.update(tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	if got := f.values()["task"]; strings.Count(got, "x\n") != 149 {
		t.Errorf("%d lines", strings.Count(got, "\n")+1)
	}
	f.view(80, 24)
}

// A changing source tells which item a diff was asked of, and changes its list at the nth look.
type changing struct {
	*fake
	lists []*status.Overview
	asked []string
}

func (c *changing) Overview(context.Context, bool) (*status.Overview, error) {
	o := c.lists[0]
	if len(c.lists) > 1 {
		c.lists = c.lists[1:]
	}
	return o, nil
}

func (c *changing) Diff(_ context.Context, key Key) (string, error) {
	c.asked = append(c.asked, key.Name)
	return "", nil
}

// TestPlainGoesOnWithWhatWasShown when the list changes, and shrinks: an item is what it was called, not where it stands.
func TestPlainGoesOnWithWhatWasShown(t *testing.T) {
	listOf := func(names ...string) *status.Overview {
		o := &status.Overview{}
		for _, name := range names {
			o.Queue = append(o.Queue, status.QueuedTask{Name: name, Title: name})
		}
		return o
	}
	src := &changing{fake: night(t), lists: []*status.Overview{listOf("alpha", "beta", "gamma"), listOf("beta", "gamma"), listOf("beta")}}
	for key := range src.details {
		delete(src.details, key)
	}
	src.details[Key{Queued, "beta"}], src.details[Key{Queued, "gamma"}] = night(t).details[Key{Task, "parser"}], night(t).details[Key{Task, "parser"}]
	var out strings.Builder
	// beta; then gamma, which is the second of two, and is gone from the third list.
	if err := Plain(t.Context(), src, "x", strings.NewReader("2\nlist\nchanges\n2\nlist\nchanges\nlog\nnext\n2\nquit\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(src.asked); got != "[beta gamma]" {
		t.Errorf("the diffs of %s were shown:\n%s", got, out.String())
	}
	if !strings.Contains(out.String(), "there is no item 2") {
		t.Error("a number of an older list was taken")
	}
}

// TestANewTaskIsAskedForOnce, with the way in which it is worked on: a number chooses one while nothing is typed, the list of ways by its
// keys, and what was typed stays in each.
func TestANewTaskIsAskedForOnce(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 80, 24)
	s.press("t")
	s.shows("New task", "( ) here and now", "(•) on a branch of its own     name:")
	s.press("1")
	s.shows("(•) here and now")
	s.write("2 things")
	s.press("tab", "space", "tab")
	s.shows("2 things", "(•) on a branch of its own     name:", "ctrl+s send")
	s.press("tab")
	s.write("two")
	s.press("esc", "t")
	s.shows("2 things", "name: two")
	s.press("ctrl+s")
	if len(src.done) != 1 || !src.done[0].Same(branchAct) || src.values[0]["task"] != "2 things" || src.values[0]["name"] != "two" {
		t.Errorf("%v %v", src.done, src.values)
	}
	s.press("t", "1")
	s.write("now")
	s.press("ctrl+s")
	if len(src.done) != 2 || !src.done[1].Same(runAct) || src.values[1]["task"] != "now" {
		t.Errorf("%v %v", src.done, src.values)
	}
}
