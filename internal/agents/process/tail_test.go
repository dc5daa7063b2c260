package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestATailGoesOnWhereItWas, and begins when there is something.
func TestATailGoesOnWhereItWas(t *testing.T) {
	r := Run{Agent: "command", Log: filepath.Join(t.TempDir(), "log")}
	tail, heard := r.Tail(), 0
	for _, step := range []struct{ print, said, whole string }{
		{"", "", ""},
		{"one\ntw", "one", "tw"},
		{"", "one", "tw"},
		{"o\n", "two", "two"},
	} {
		if step.print != "" {
			f, err := os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(step.print); err != nil {
				t.Fatal(err)
			}
			f.Close()
			heard += len(step.print)
		}
		tail.More()
		if tail.Said != step.said || tail.off != int64(heard) {
			t.Errorf("after %q: %q, %d bytes", step.print, tail.Said, tail.off)
		}
		if whole := Read(r); whole.Said != step.whole {
			t.Errorf("after %q it says %q in all", step.print, whole.Said)
		}
	}
}

// TestATailReadsInTurns: a caller that has other things to look at is not held up by much output.
func TestATailReadsInTurns(t *testing.T) {
	r := Run{Agent: "command", Log: filepath.Join(t.TempDir(), "log")}
	line := strings.Repeat("x", 1<<10-1) + "\n"
	text := strings.Repeat(line, 2*maxTurn/len(line)) + "the end\n"
	if err := os.WriteFile(r.Log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tail := r.Tail()
	for turn, want := range []int{maxTurn, 2 * maxTurn, len(text), len(text)} {
		tail.More()
		if tail.off != int64(want) || tail.Behind != (want < len(text)) {
			t.Errorf("turn %d: read up to %d of %d, behind %v", turn, tail.off, len(text), tail.Behind)
		}
	}
	if whole := Read(r); whole.Said != "the end" || tail.Said != "the end" {
		t.Errorf("%q, in turns %q", whole.Said, tail.Said)
	}
	// Of more than is ever read the end is read.
	if err := os.Truncate(r.Log, 2*maxTail); err != nil {
		t.Fatal(err)
	}
	if tail.More(); tail.off != maxTail+maxTurn || !tail.Behind {
		t.Errorf("read up to %d, behind %v", tail.off, tail.Behind)
	}
}
