package process

import (
	"os"
	"path/filepath"
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
