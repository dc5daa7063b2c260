//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// TestARunFromACommitIsNotGoneOnWith: a clone that brings along the folder of a run would have its commands run by
// ferrus tick, wherever [pipelines] tmp_dir puts such folders.
func TestARunFromACommitIsNotGoneOnWith(t *testing.T) {
	for _, tmp := range []string{".ferrus/pipeline-tmp", "build/runs"} {
		t.Run(strings.ReplaceAll(tmp, "/", "-"), func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			git := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %q: %v: %s", args, err, out)
				}
			}
			git("init", "-q")
			_, wrong := setupcmd.SetUp((&cli.App{}), t.Context(), dir)
			if err := errors.Join(wrong, os.WriteFile(filepath.Join(dir, config.FileName), []byte("[pipelines]\ntmp_dir = \""+tmp+"\"\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			sharedtest.Move(t, dir)
			mark := filepath.Join(dir, "mark")
			conf := config.Default()
			conf.Pipelines.TmpDir = tmp
			conf.HQ.Executor = config.Agent{Agent: "command", Command: "echo ran >> " + mark}
			conf.Notify.Command = "echo told >> " + mark
			all, err := workflow.Parse([]byte(`{"p": {"phases": [{"id": "a", "workers": [{"role": "one", "task": "x", "final": true}]}]}}`))
			if err != nil {
				t.Fatal(err)
			}
			at := run.At(dir, conf.Pipelines)
			f, err := at.Launch(all[0], "topic", at.Settings(conf), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			git("add", "-f", tmp)
			git("commit", "-qm", "a run of somebody")
			for _, line := range []string{"tick", "pipeline resume", "pipeline cancel --yes", "pipeline retry --from one"} {
				var out bytes.Buffer
				a := &cli.App{In: strings.NewReader(""), Out: &out, Err: &out}
				if code := root.Run(a, t.Context(), append([]string{"-C", dir}, strings.Fields(line)...)); code == 0 || !strings.Contains(out.String(), "it comes from a commit") {
					t.Errorf("ferrus %s: exit %d: %s", line, code, out.String())
				}
			}
			if text, err := os.ReadFile(mark); err == nil {
				t.Errorf("it ran: %s", text)
			}
			if lines, err := f.Lines(); err != nil || len(lines) != 1 {
				t.Errorf("%d lines: %v", len(lines), err)
			}
		})
	}
}
