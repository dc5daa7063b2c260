package patch

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWhatARejectionSaysOfLines: lines are named as compilers and people name them, and what names no file of the patch stays text.
func TestWhatARejectionSaysOfLines(t *testing.T) {
	named := func(path string) bool { return slices.Contains([]string{"a.go", "b c/d.go"}, path) }
	for text, want := range map[string][]Remark{
		"Wrong.\n\na.go:7: No.\nNever.\n\nAll in all:":                      {{"a.go", 7, false, "No.\nNever."}},
		"- `a.go:7`: No.\n- a.go:9:3: Nor this.\n":                          {{"a.go", 7, false, "No."}, {"a.go", 9, false, "Nor this."}},
		"1. **a.go:7** — No.\n2) a.go:8-9: Nor these.":                      {{"a.go", 7, false, "No."}, {"a.go", 8, false, "Nor these."}},
		"b c/d.go:3\n> a > b\n> c\n\nOne.\n\nTwo.\n\na.go:1\n> x\n\nThree.": {{"b c/d.go", 3, false, "One.\n\nTwo."}, {"a.go", 1, false, "Three."}},
		"a.go:4 (removed)\n> old\n\nKeep it.\n> as it was":                  {{"a.go", 4, true, "Keep it.\n> as it was"}},
		"c.go:7: No.\na.go: No.\nSee a.go:7.\nat 12:30 a.go\n":              nil,
	} {
		if got := Remarks(text, named); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// TestWhereALineIsNow: each line of an old file, over a patch that adds, changes and removes.
func TestWhereALineIsNow(t *testing.T) {
	const (
		text = "--- a/x\n+++ b/x\n@@ -2,3 +2,5 @@\n b\n+1\n+2\n c\n d\n@@ -8,5 +10,3 @@\n h\n-i\n-j\n+3\n l\n-m\n@@ -20 +21,0 @@\n-t\n"
		want = "1 2 5 6 7 8 9 10 11! 11! 12 13! 13 14 15 16 17 18 19 20! 20"
	)
	f := Parse(text)[0]
	var got []string
	for line := range 21 {
		now, changed := f.Now(line + 1)
		got = append(got, strconv.Itoa(now)+map[bool]string{true: "!"}[changed])
	}
	if said := strings.Join(got, " "); said != want {
		t.Errorf("%s, want %s", said, want)
	}
}
