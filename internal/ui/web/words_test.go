package web

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputIsReadByWholeLines from any offset: each line is shown once, whatever the pieces are, and an unfinished one waits.
func TestOutputIsReadByWholeLines(t *testing.T) {
	t.Parallel()
	const all = "first\nse\u202econd <b>\nthird\nunfinished"
	for size := 0; size <= len(all); size++ {
		path := filepath.Join(t.TempDir(), "log")
		log, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		o, got := newFollower(log, "command", 0), ""
		for _, part := range []string{all[:size], all[size:]} {
			if _, err := log.WriteString(part); err != nil {
				t.Fatal(err)
			}
			text, moved, err := o.next()
			if err != nil || moved != (part != "") {
				t.Fatal(moved, err)
			}
			got += text
		}
		if got != "first\nse<U+202E>cond <b>\nthird\n" || o.line() != int64(strings.Index(all, "unf")) {
			t.Errorf("cut at %d: %q up to %d", size, got, o.line())
		}
		if rest := o.end(); rest != "unfinished\n" {
			t.Errorf("cut at %d: %q at the end", size, rest)
		}
	}
	for from, want := range map[int64]string{1: "se<U+202E>cond <b>\nthird\n", 5: "se<U+202E>cond <b>\nthird\n", 6: "se<U+202E>cond <b>\nthird\n", 7: "third\n"} {
		got, _, err := newFollower(strings.NewReader(all), "command", from).next()
		if err != nil || got != want {
			t.Errorf("from %d: %q, %v", from, got, err)
		}
	}
}

// TestALongLineStopsNoOutput, wherever the reading begins: what follows it is shown, and the line itself with a mark where it is
// cut. A browser that comes back begins at a line.
func TestALongLineStopsNoOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 600<<10)
	all := "before\n" + long + "\nafter\n"
	for _, from := range []int64{0, 7, 8, 300 << 10, int64(len(all)) - tailSize} {
		o, got := newFollower(strings.NewReader(all), "command", from), ""
		for {
			text, moved, err := o.next()
			if err != nil {
				t.Fatal(err)
			}
			if !moved {
				break
			}
			got += text
			if at := o.line(); !o.skip && at > 0 && at < int64(len(all)) && all[at-1] != '\n' {
				t.Errorf("from %d: a browser would come back within a line, at %d", from, at)
			}
		}
		if !strings.HasSuffix(got, "after\n") || o.line() != int64(len(all)) {
			t.Errorf("from %d: …%q up to %d of %d", from, got[max(0, len(got)-80):], o.line(), len(all))
		}
		if shown := strings.Count(got, "x"); from <= 7 && (shown != tailSize || !strings.Contains(got, "bytes more)")) || from > 7 && shown > 0 {
			t.Errorf("from %d: %d characters of the line are shown", from, shown)
		}
	}
	// A line that never ends is shown in parts.
	o := newFollower(bytes.NewReader(bytes.Repeat([]byte("x"), 20<<20)), "command", 0)
	parts := 0
	for moved := true; moved; {
		var text string
		if text, moved, _ = o.next(); text != "" {
			parts++
		}
	}
	if parts != 2 {
		t.Errorf("%d parts", parts)
	}
}
