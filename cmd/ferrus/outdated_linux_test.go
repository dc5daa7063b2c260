package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
)

// TestAnUpgradeIsNoticedByWhatGoesOn: a server whose program was replaced goes on, and each command that a person starts says so, until
// it has ended.
func TestAnUpgradeIsNoticedByWhatGoesOn(t *testing.T) {
	t.Parallel()
	m := enginetest.Repository(t, enginetest.Gate("true")).Recorded().Agreed()
	self := enginetest.Must(os.Executable())(t)
	bin := t.TempDir()
	program, next := filepath.Join(bin, "ferrus"), filepath.Join(bin, "next")
	for _, name := range []string{program, next} {
		text := enginetest.Must(os.ReadFile(self))(t) // a link would have another name for what runs
		if err := os.WriteFile(name, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	serves := exec.Command(program, "serve", "--role", "executor")
	serves.Dir = m.Dir
	open := enginetest.Must(serves.StdinPipe())(t)
	if err := serves.Start(); err != nil { // it has executed the program when this returns
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = serves.Process.Kill()
			_ = serves.Wait()
		}
	}()
	says := func(line string, terminal bool) string {
		var out strings.Builder
		root.Run(&cli.App{In: strings.NewReader(""), Out: &out, Err: &out, ErrTTY: terminal}, t.Context(), append([]string{"-C", m.Dir}, strings.Fields(line)...))
		return out.String()
	}
	server := fmt.Sprintf("the server of the executor (process %d)", serves.Process.Pid)
	has := func(want bool, line string, terminal bool) {
		t.Helper()
		if got := says(line, terminal); strings.Contains(got, server) != want || strings.Count(got, server) > 1 && line != "doctor" {
			t.Errorf("ferrus %s:\n%s", line, got)
		}
	}
	has(false, "status", true)
	has(false, "doctor", true)
	if err := os.Rename(next, program); err != nil {
		t.Fatal(err)
	}
	has(true, "status", true)
	has(true, "queue", true)
	has(true, "doctor", false)
	has(false, "status", false)
	has(false, "status --json", true)
	if err := open.Close(); err != nil { // its client has gone
		t.Fatal(err)
	}
	_ = serves.Wait()
	ended = true
	has(false, "status", true)
	has(false, "doctor", false)
}
