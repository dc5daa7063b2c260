package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	// modeRow is a row of a failure mode: its name, how it looks, what ferrus does, and what shows that.
	modeRow = regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\*[^|]* \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	verdict = regexp.MustCompile(`^\*\*(Prevents|Detects|Bounds|Not addressed)\*\*`)
)

// TestEachFailureModeSaysWhatFerrusDoes: prevents, detects or bounds it, with a link, or does not address it; and what
// shows that, or that nothing does.
func TestEachFailureModeSaysWhatFerrusDoes(t *testing.T) {
	text := read(t, "failure-modes.md")
	rows := modeRow.FindAllStringSubmatch(text, -1)
	if len(rows) != 14+9 || strings.Count(text, "\n| **") != len(rows) {
		t.Errorf("%d rows", len(rows))
	}
	for _, m := range rows {
		if !verdict.MatchString(m[3]) || !link.MatchString(m[3]) {
			t.Errorf("%s: no word and no link: %s", m[1], m[3])
		}
		if !namedTest.MatchString(m[4]) && !namedFile.MatchString(m[4]) && !strings.Contains(m[4], "not shown by a test") {
			t.Errorf("%s: nothing shows it: %s", m[1], m[4])
		}
	}
}
