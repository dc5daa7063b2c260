package terminal

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/status"
)

// TestEachKindOfNeedHasItsMark: no two marks share a character, also in seven bits, each is a column wide, and the help and the docs name all.
func TestEachKindOfNeedHasItsMark(t *testing.T) {
	var help string
	for _, r := range helpRows("", nil, today, 76) {
		help += r.text + "\n"
	}
	page, err := os.ReadFile("../../../docs/ui.md")
	if err != nil {
		t.Fatal(err)
	}
	signs, letters := map[string]bool{}, map[string]bool{}
	for _, m := range append(marks, works, waits, ended) {
		letter := ascii.Replace(m.sign)
		if signs[m.sign] || letters[letter] || ansi.StringWidth(m.sign) != 1 || len(letter) != 1 || !strings.Contains(help, m.sign+" "+m.means) {
			t.Errorf("%q, %q in seven bits, %s: twice, too wide or not in the help", m.sign, letter, m.means)
		}
		if row := "| `" + m.sign + "` | `" + letter + "` | " + m.means + " |\n"; !strings.Contains(string(page), row) && !strings.Contains(string(page), "`"+m.sign+"` (`"+letter+"`) "+m.means) {
			t.Errorf("docs/ui.md lacks %s", row)
		}
		signs[m.sign], letters[letter] = true, true
	}
	for kind, want := range map[status.NeedKind]string{status.NeedAnswer: "?", status.NeedBudget: "$", status.NeedConflict: "≠", status.NeedChoice: "⑂", status.NeedTrust: "‖", "unknown": "‖"} {
		if got := markOf(kind).sign; got != want {
			t.Errorf("%s has %s", kind, got)
		}
	}
}

// TestATerminalOfSevenBits gets nothing else from the screen, and each line stays as wide.
func TestATerminalOfSevenBits(t *testing.T) {
	for environ, want := range map[string]bool{"": false, "LANG=C": true, "LANG=POSIX": true, "LANG=de_DE.UTF-8": false, "LANG=en_US.utf8": false, "LANG=de_DE.UTF-8 LC_ALL=C": true,
		"LC_ALL=C.UTF-8 LANG=C": false, "LC_CTYPE=de_DE.ISO-8859-1": true, "TERM=linux LANG=de_DE.UTF-8": true, "TERM=xterm": false, "MYLANG=C": false} {
		if got := onlyASCII(strings.Fields(environ)); got != want {
			t.Errorf("%s: %v", environ, got)
		}
	}
	for i := range views {
		for _, width := range []int{80, 120} {
			s := stageOf(t, i, width, 24)
			s.ascii = true
			for _, row := range strings.Split(ansi.Strip(s.View().Content), "\n") {
				if ansi.StringWidth(row) != width || strings.ContainsFunc(row, func(r rune) bool { return r > 126 }) {
					t.Errorf("%s: %q", views[i].name, row)
				}
			}
		}
	}
}

// TestATitleIsReadableBesideItsSentence: at 80 columns it has at least 24, and the sentence is there.
func TestATitleIsReadableBesideItsSentence(t *testing.T) {
	src := night(t)
	src.overview.Machines[0].Title = "A title of more than eighty columns, which nobody can read as a whole on a terminal of that size"
	text := ansi.Strip(onStage(t, src, 80, 24).View().Content)
	row := regexp.MustCompile(`(?m)^▌. (A title .*…) Sum is used .*12 min *$`).FindStringSubmatch(text)
	if row == nil || ansi.StringWidth(row[1]) < 24 {
		t.Errorf("%q in\n%s", row, text)
	}
}

// TestAttemptsAtOneTaskAreToldApart by their branches.
func TestAttemptsAtOneTaskAreToldApart(t *testing.T) {
	src := night(t)
	for i := range src.overview.Machines[:2] {
		src.overview.Machines[i].Title = "The same"
	}
	s := onStage(t, src, 120, 40)
	s.shows(machineName(src.overview.Machines[0].Branch)+"  The same", machineName(src.overview.Machines[1].Branch)+"  The same")
}

// TestTheSelectedItemStandsBelowTheList of a screen with one pane: what it needs, the options and the question; and how an item stands that
// needs nobody. Half of the screen stays for the list.
func TestTheSelectedItemStandsBelowTheList(t *testing.T) {
	src := night(t)
	s := onStage(t, src, 80, 24)
	s.shows(" ? Sum is used by two", "Codex asks, 12 min", "1  Keep the old name too", "recommended", "3  Ask the users first", "May the old name go")
	for s.key().Name != "speed" {
		s.press("j")
	}
	s.shows("─────", "\n Halve the time of Add ", "Codex writes, 1 of 4 tries failed, +5 -5")
	src.details[Key{Task, ""}].Task.Report.Question.Text = strings.Repeat("A long question. ", 100)
	s = onStage(t, src, 80, 24)
	s.shows("↵ all", "Needs you 3")
	s.press("enter")
	s.shows("question 1 of 1", "A long question.", "0  in your own words")
	if small := ansi.Strip(onStage(t, src, 59, 24).View().Content); strings.Contains(small, "─────") {
		t.Errorf("a small screen has two parts:\n%s", small)
	}
}
