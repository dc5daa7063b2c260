package terminal

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestEveryHiddenCharacterIsMarkedOnTheScreen, in the patch, the names of files in it, the texts of agents and logs. A notice stands
// above the patch and in the form of the verdict.
func TestEveryHiddenCharacterIsMarkedOnTheScreen(t *testing.T) {
	every := kit.HiddenText()
	var patch strings.Builder
	for _, name := range kit.HiddenNames() {
		patch.WriteString("diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n")
	}
	names := patch.Len()
	patch.WriteString("diff --git a/every.go b/every.go\n--- a/every.go\n+++ b/every.go\n@@ -0,0 +1,9999 @@\n")
	for line := range strings.Lines(every) {
		patch.WriteString("+" + line)
	}
	for what, text := range map[string]string{"names": patch.String()[:names], "content": patch.String()[names:]} {
		src := night(t)
		src.diff, src.log = text, every
		src.outputs = []Output{{Name: "executor-1", Lines: strings.Split(every, "\n")}}
		s := onStage(t, src, 120, 40)
		s.turn(tabNamed(t, s, "changes"))
		s.carry(s.loadTab())
		if first := stripStyles(s.View().Content); !strings.Contains(first, "characters that cannot be seen") {
			t.Errorf("no notice is above the patch:\n%s", first)
		}
		for _, name := range []string{"changes", "checks", "agents"} {
			tab := s.tabs[tabNamed(t, s, name)]
			s.turn(tabNamed(t, s, name))
			s.carry(s.loadTab())
			var all strings.Builder
			for _, r := range tab.content() {
				all.WriteString(r.style.Render(r.text) + "\n")
			}
			raw, dropped := kit.Unmarked(strings.Join(strings.Fields(stripStyles(all.String())), " "))
			if name != "changes" || what == "content" {
				if len(raw) > 0 || len(dropped) > 0 {
					t.Errorf("%s shows %U raw, and %U not at all", name, raw, dropped)
				}
			} else if len(raw) > 0 || len(dropped) > 1 { // no name has NUL
				t.Errorf("names are shown with %U raw, and without %U", raw, dropped)
			}
		}
		var out strings.Builder
		if err := Plain(t.Context(), src, "x", strings.NewReader("1\nchanges\nquit\n"), &out); err != nil {
			t.Fatal(err)
		}
		if raw, dropped := kit.Unmarked(out.String()); len(raw) > 0 || len(dropped) > 1 || what == "content" && len(dropped) > 0 {
			t.Errorf("plain shows %U raw, and %U not at all", raw, dropped)
		}
	}
	approve := Act{Name: "approve", Label: "Approve", Notices: []string{"hidden: a.go has U+202E"}, Fields: []Field{{Name: "note", Label: "Note", Kind: status.LineField}}}
	form, _ := newForm(approve, nil).view(80, 30)
	asked, _ := (&question{act: approve}).view(80, 30)
	for what, rows := range map[string][]string{"form": form, "question": asked} {
		if text := stripStyles(strings.Join(rows, "\n")); !strings.Contains(text, "hidden: a.go has U+202E") {
			t.Errorf("the %s has no notice:\n%s", what, text)
		}
	}
}

func tabNamed(t *testing.T, s *stage, name string) int {
	t.Helper()
	for i, tab := range s.tabs {
		if tab.name() == name {
			return i
		}
	}
	t.Fatal(name)
	return 0
}
