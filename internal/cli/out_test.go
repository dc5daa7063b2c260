package cli

import (
	"io"
	"strings"
	"testing"
)

// TestNamesStandInOneColumn: a program gets them whole; on a terminal a long one is cut, and attempts at one task stay apart.
func TestNamesStandInOneColumn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long-name-", 5)
	names := []string{"a", long + ".1", long + ".2"}
	for _, c := range []struct {
		tty  bool
		wide int
	}{{false, len(long) + 2}, {true, UsualColumns / 5}} {
		column := (&App{Out: io.Discard, OutTTY: c.tty}).Names(14, names)
		seen := map[string]bool{}
		for _, name := range names {
			text := column(name)
			if n := len([]rune(text)); n != c.wide || seen[text] {
				t.Errorf("%q has %d columns, not %d, or is there twice", text, n, c.wide)
			}
			seen[text] = true
			if !c.tty && strings.TrimSpace(text) != name {
				t.Errorf("%q is cut: %q", name, text)
			}
		}
	}
	if text := (&App{Out: io.Discard}).Names(4, nil)("ab"); text != "ab  " {
		t.Errorf("without names the column is %q", text)
	}
}
