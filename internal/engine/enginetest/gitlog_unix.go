//go:build unix

package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// GitLog puts a git first on PATH that writes down its arguments, and returns what was called since the last time.
func GitLog(t testing.TB) func() []string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>%s\nexec %s \"$@\"\n", log, real)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, _ := os.ReadFile(log)
		os.Remove(log)
		var calls []string
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			for strings.HasPrefix(line, "-c ") {
				_, line, _ = strings.Cut(strings.TrimPrefix(line, "-c "), " ")
			}
			calls = append(calls, line)
		}
		return calls
	}
}
