package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAProgramThatRuns is known by its name, from when it began until it ends.
func TestAProgramThatRuns(t *testing.T) {
	t.Parallel()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(cat)
	if err != nil {
		t.Fatal(err)
	}
	const name = "cat of a test)" // only this one has it
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o700); err != nil {
		t.Fatal(err)
	}
	if RunsSince(name, time.Now()) {
		t.Error("it has not begun")
	}
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has its name by now
		t.Fatal(err)
	}
	if !RunsSince(name, time.Now()) || RunsSince(name, time.Now().Add(-time.Hour)) {
		t.Error("it runs, and began a moment ago")
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if RunsSince(name, time.Now()) {
		t.Error("it has ended")
	}
}
