package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestWatchShowsEveryChangeUntilItIsInterrupted.
func TestWatchShowsEveryChangeUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent there")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte("[checks]\ncommands = [\"true\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	person := func(args ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, "ferrus", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "FERRUS_AGENT=")
		return cmd
	}
	act := func(args ...string) {
		if out, err := person(args...).CombinedOutput(); err != nil {
			t.Fatalf("ferrus %v: %v: %s", args, err, out)
		}
	}
	act("init")
	sharedtest.Move(t, dir)
	watch := person("status", "--watch", "--json")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, step := range []struct {
		state state.State
		then  []string
	}{
		{state.Idle, []string{"task", "one"}},
		{state.Executing, []string{"reset", "--yes"}},
		{state.Idle, nil},
	} {
		if !lines.Scan() {
			t.Fatalf("no line for %s: %v", step.state, lines.Err())
		}
		var seen status.Report
		if err := json.Unmarshal(lines.Bytes(), &seen); err != nil || seen.State != step.state {
			t.Fatalf("%s is not %s: %v", lines.Bytes(), step.state, err)
		}
		if step.then != nil {
			act(step.then...)
		}
	}
	// Meanwhile the watcher reports by itself, once a second, and nothing was changed.
	time.AfterFunc(1500*time.Millisecond, func() { _ = watch.Process.Signal(os.Interrupt) })
	if lines.Scan() {
		t.Errorf("a line of nothing new: %s", lines.Bytes())
	}
	_ = watch.Wait()
	if code := watch.ProcessState.ExitCode(); code != cli.ExitCtrlC {
		t.Errorf("interrupted, it exits with %d", code)
	}
}
