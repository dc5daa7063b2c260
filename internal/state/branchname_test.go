package state

import (
	"strings"
	"testing"
)

// TestTheNameOfABranch can be a folder, a part of a git branch and a word of a command line.
func TestTheNameOfABranch(t *testing.T) {
	for _, name := range []string{"a", "7", "fix-login", "A_b.c-1", "x.locked", strings.Repeat("n", 40)} {
		if err := CheckBranch(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", ".", "..", ".a", "-a", "_a", "a/b", `a\b`, "a b", "a..b", "a.", "a.lock", "ä", "a\n", "a\x00", "a~1", "a:b",
		strings.Repeat("n", 41)} {
		if CheckBranch(name) == nil {
			t.Errorf("a branch may be called %q", name)
		}
	}
}
