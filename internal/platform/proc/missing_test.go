//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAProgramThatIsNotThereIsNamed, and nothing that the shell alone can know.
func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/there": 0o755, "run.sh": 0o755, "notes": 0o644} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"": "", "there": "", "there -x 'a b'": "", "./run.sh": "", "true": "", "CI=1 there": "", "exec there": "", "! there": "",
		"nowhere": "nowhere", "nowhere --x": "nowhere", "/nope/agent {server}": "/nope/agent", "./nope.sh": "./nope.sh", "./notes": "./notes",
		"CI=1 nowhere": "nowhere", "exec nowhere": "nowhere", "there | nowhere": "nowhere", "there && nowhere": "nowhere", "there; nowhere": "nowhere",
		"there {server} | nowhere": "nowhere", "cd sub && nowhere": "nowhere", "if there; then nowhere; fi": "nowhere",
		"cd sub && ./build": "", "$TOOL": "", `"$HOME/x"`: "", "(nowhere)": "", "there $(x) && nowhere": "", "PATH=/x nowhere": "", "nowhere() { :; }": "",
		"[ -f x ] && there": "", "{ nowhere": "", "{prompt} nowhere": "",
	} {
		if got := Missing(line, dir, filepath.Join(dir, "bin")); got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}
