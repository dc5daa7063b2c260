package patch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAHostileTextTakesLittleTime: texts for which the expressions of a lexer take quadratic time, in one line and in many, hold
// no page up. Without a limit the first of them takes more than a minute.
func TestAHostileTextTakesLittleTime(t *testing.T) {
	for _, name := range []string{"Makefile", "a.rb", "a.py"} {
		for _, word := range []string{"{", "${", "<", "`"} {
			for _, length := range []int{32 << 10, 390} {
				line := strings.Repeat(word, length/len(word))
				lines := 32 << 10 / length
				text := fmt.Sprintf("diff --git a/%s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -0,0 +1,%d @@\n%s", name, lines, strings.Repeat("+"+line+"\n", lines))
				f := Parse(text)[0]
				began := time.Now()
				if got := Highlight(&f); len(got[0]) != lines {
					t.Errorf("%d lines of %d", len(got[0]), lines)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s, %d bytes of %q in a line: %s", name, length, word, took)
				}
			}
		}
	}
}
