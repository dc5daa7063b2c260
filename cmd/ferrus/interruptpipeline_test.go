package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	pipelinecmd "github.com/ferrus-go/ferrus/internal/cli/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestAnInterruptEndsTheConductorAlone: its workers go on, and it says how the run does.
func TestAnInterruptEndsTheConductorAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent there")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ferrus.toml":    "[hq.executor]\nagent = \"command\"\ncommand = \"until test -e go; do sleep 0.01; done; echo done >$FERRUS_OUTPUT\"\n",
		"workflows.json": `{"one": {"phases": [{"id": "all", "workers": [{"role": "worker", "final": true, "task": "Work"}]}]}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ferrus := func(args ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, "ferrus", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "FERRUS_AGENT=")
		return cmd
	}
	if out, err := ferrus("init").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sharedtest.Move(t, dir)
	conductor := ferrus("pipeline", "one", "a topic", "--json")
	out, err := conductor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := conductor.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600) })
	var end pipelinecmd.PipelineEnd
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var d pipelinecmd.EventJSON
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if d.Event == string(pipeline.Start) {
			if err := conductor.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &end); err != nil {
			t.Fatal(err)
		}
	}
	var exit *exec.ExitError
	if err := conductor.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitCtrlC {
		t.Errorf("interrupted: %v", err)
	}
	if end.Kind != "end" || end.State != pipeline.IsRunning || len(end.Next) == 0 || end.Next[0].Command != "ferrus pipeline resume "+end.Run {
		t.Errorf("the last line: %+v", end)
	}
	f, err := run.Open(end.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, alive := f.Slot("worker").Taken(); !alive {
		t.Error("the worker has ended")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := ferrus("pipeline", "resume").Output(); err != nil || string(out) != "done\n" {
		t.Errorf("%v: %q", err, out)
	}
}
