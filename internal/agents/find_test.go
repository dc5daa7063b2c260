package agents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPathAndVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "codex")
	script := "#!/bin/sh\necho \"codex-cli $1 ${CLAUDECODE-none}\"\necho more\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o644); err != nil { // no program
		t.Fatal(err)
	}
	environ := []string{"PATH=.:" + filepath.Join(dir, "none") + ":" + dir, "CLAUDECODE=1"}

	if got, err := codex.Path(environ); err != nil || got != program {
		t.Errorf("codex is at %q, %v", got, err)
	}
	if got, err := codex.Version(t.Context(), environ); err != nil || got != "codex-cli --version none" {
		t.Errorf("codex says %q, %v", got, err)
	}
	if _, err := claude.Path(environ); err == nil || !strings.Contains(err.Error(), claude.Install) {
		t.Errorf("claude: %v", err)
	}
	if _, err := command.Path(environ); err == nil {
		t.Error("command has a program")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := codex.Version(ctx, environ); !errors.Is(err, context.Canceled) {
		t.Errorf("version after the end: %v", err)
	}
	t.Chdir(dir)
	if got, err := codex.Path([]string{"PATH=."}); err == nil {
		t.Errorf("a program of the working directory was taken: %s", got)
	}
}
