package terminal

import (
	"fmt"
	"image/color"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/golden"
)

func basic(i int) color.Color { return ansi.BasicColor(i) }

// views are all views, and the keys that lead there.
var views = []struct {
	name string
	keys []string
	text string // typed after the keys
}{
	{"overview", nil, ""},
	{"diff", []string{"]"}, ""},
	{"journal", []string{"[", "tab", "k"}, ""},
	{"agents", []string{"]", "]", "]"}, ""},
	{"checks", []string{"]", "]"}, ""},
	{"documents", []string{"[", "["}, ""},
	{"answer", []string{"a"}, ""},
	{"own-words", []string{"0"}, "only if the amount is shown to the customer; in the books 1234.50"},
	{"reject", []string{"n", "n", "r"}, "The doc comment of Parse is missing.\nAlso: what is 0x?"},
	{"new", []string{"t"}, ""},
	{"new-branch", []string{"t", "2"}, "Add of no numbers is zero"},
	{"stop", []string{"x"}, ""},
	{"rollback", []string{"[", "tab", "k", "b"}, ""},
	{"acts", []string{"space"}, ""},
	{"filter", []string{"/"}, "parser"},
	{"help", []string{"?"}, ""},
	{"pipeline", []string{"G", "k"}, ""},
}

func stageOf(t testing.TB, view, width, height int) *stage {
	s := onStage(t, night(t), width, height)
	for _, key := range views[view].keys {
		if key != "tab" || !s.right { // with one pane its tab has the focus at once
			s.press(key)
		}
	}
	for _, l := range strings.SplitAfter(views[view].text, "\n") {
		text, enter := strings.CutSuffix(l, "\n")
		s.write(text)
		if enter {
			s.press("enter")
		}
	}
	return s
}

// TestViews compares each view with its golden file, as text and as the picture of the docs.
func TestViews(t *testing.T) {
	for i, v := range views {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			e := drawn(stageOf(t, i, size[0], size[1]).View().Content, size[0], size[1])
			name := fmt.Sprintf("%s-%dx%d", v.name, size[0], size[1])
			golden.Check(t, filepath.Join("testdata", name+".txt"), textOf(e))
			golden.Check(t, filepath.Join("..", "..", "..", "docs", "pictures", "ui-"+name+".svg"), svg(e, "ferrus ui: "+v.name))
			e.Close()
		}
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
		s := onStage(t, busy(t), size[0], size[1])
		s.title = "shop"
		e := drawn(s.View().Content, size[0], size[1])
		name := fmt.Sprintf("busy-%dx%d", size[0], size[1])
		golden.Check(t, filepath.Join("testdata", name+".txt"), textOf(e))
		golden.Check(t, filepath.Join("..", "..", "..", "docs", "pictures", "ui-"+name+".svg"), svg(e, "ferrus ui: "+name))
		e.Close()
	}
	for _, size := range [][2]int{{60, 15}, {200, 50}} {
		e := drawn(stageOf(t, 0, size[0], size[1]).View().Content, size[0], size[1])
		golden.Check(t, filepath.Join("testdata", fmt.Sprintf("overview-%dx%d.txt", size[0], size[1])), textOf(e))
		e.Close()
	}
}

// TestEveryViewFillsItsWindow, from small to large, and no line is longer: a terminal would break it.
func TestEveryViewFillsItsWindow(t *testing.T) {
	for i, v := range views {
		for _, size := range [][2]int{{60, 15}, {71, 20}, {72, 20}, {80, 24}, {132, 43}, {300, 100}} {
			s := stageOf(t, i, size[0], size[1])
			for _, right := range []bool{false, true} {
				s.right = right
				s.resize()
				rows := strings.Split(s.View().Content, "\n")
				if len(rows) != size[1] {
					t.Errorf("%s has %d lines in %v", v.name, len(rows), size)
				}
				for n, r := range rows {
					if w := ansi.StringWidth(r); w != size[0] {
						t.Errorf("line %d of %s is %d wide in %v: %q", n, v.name, w, size, ansi.Strip(r))
					}
				}
				if c := s.View().Cursor; c != nil && (c.X < 0 || c.X >= size[0] || c.Y < 0 || c.Y >= size[1]) {
					t.Errorf("the cursor of %s is at %v in %v", v.name, c.Position, size)
				}
			}
		}
	}
}

// TestTheDocsNameEveryKey.
func TestTheDocsNameEveryKey(t *testing.T) {
	page, err := os.ReadFile("../../../docs/ui.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, h := range generalKeys {
		rows = append(rows, "| `"+strings.Join(strings.Fields(h.key), "` `")+"` | "+h.does+" |\n")
	}
	for _, k := range actKeys {
		rows = append(rows, "| `"+k.key+"` | `"+k.act+"` |\n")
	}
	for _, r := range rows {
		if !strings.Contains(string(page), r) {
			t.Errorf("docs/ui.md lacks %s", r)
		}
	}
}

// TestColourIsNeverAlone: without colours each view says the same.
func TestColourIsNeverAlone(t *testing.T) {
	s := onStage(t, night(t), 120, 40)
	text := ansi.Strip(s.View().Content)
	for _, want := range []string{"Needs you 3", "▌? Rename", "  [story]", "+ Describe", "● Halve"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	s.press("tab")
	if text := ansi.Strip(s.View().Content); !strings.Contains(text, "│? Rename") || !strings.Contains(text, "▌ [story]") {
		t.Errorf("the focus is not seen:\n%s", text)
	}
}

// hostile is put into every text that others can write.
const hostile = "\x1b]0;owned\x07\x1b[2J\x1b[45mred\u202egnp.exe\u200b\r\x00\x9b5n"

// poison puts hostile characters into every text of a value.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + hostile)
		}
	}
}

// TestHostileTextsStayText: whatever agents and files say, the screen holds no more than our own styles, and --plain nothing
// that a terminal obeys.
func TestHostileTextsStayText(t *testing.T) {
	src := night(t)
	for _, d := range src.details {
		poison(reflect.ValueOf(d))
	}
	groups := map[int]status.Group{} // by which the list is sorted
	for i, m := range src.overview.Machines {
		groups[i] = m.Group
	}
	poison(reflect.ValueOf(src.overview))
	for i, g := range groups {
		src.overview.Machines[i].Group = g
	}
	for _, k := range slices.Collect(maps.Keys(src.details)) { // the names of branches are poisoned, too
		src.details[Key{k.Kind, k.Name + hostile}] = src.details[k]
	}
	src.diff, src.log = src.diff+hostile, src.log+hostile
	poison(reflect.ValueOf(&src.outputs))
	src.outcome.Text = hostile
	s := onStage(t, src, 120, 40)
	look := func(where string) {
		t.Helper()
		content := s.View().Content
		if !strings.Contains(content, "U+001B") {
			t.Errorf("%s shows nothing hostile", where)
		}
		if strings.Contains(content, "\x1b[45m") {
			t.Errorf("%s takes its colours from others", where)
		}
		checkClean(t, where, stripStyles(content))
	}
	for tab := range s.tabs {
		s.turn(tab)
		s.carry(s.loadTab())
		look(s.tabs[tab].name())
	}
	for _, keys := range [][]string{{"space"}, {"a"}, {"x"}, {"t"}, {"?"}} {
		s.press(keys...)
		look(strings.Join(keys, " "))
		s.press("esc")
	}
	s.press("x", "y")
	look("outcome")

	var out strings.Builder
	in := strings.NewReader("list\nnext\n1\n2\n3\nchanges\nlog\ndocuments\nagents\nchecks\nacts\nact 1\nquit\n")
	if err := Plain(t.Context(), src, "x"+hostile, in, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "red") {
		t.Error("plain shows nothing hostile")
	}
	checkClean(t, "plain", out.String())
}

// stripStyles removes the sequences that choose a style, and nothing else.
func stripStyles(text string) string {
	for {
		at := strings.Index(text, "\x1b[")
		end := -1
		if at >= 0 {
			end = strings.IndexFunc(text[at+2:], func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		}
		if at < 0 || end < 0 || text[at+2+end] != 'm' {
			return text
		}
		text = text[:at] + text[at+2+end+1:]
	}
}

func checkClean(t *testing.T, where, text string) {
	t.Helper()
	for at, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf)) {
			t.Errorf("%s holds %U: %.200q", where, r, text[max(0, at-60):])
			return
		}
	}
}

var _ tea.Model = (*Model)(nil)
