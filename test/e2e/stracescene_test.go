//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A scene is a feat from one start, in a project of its own.
type scene struct {
	*world
	name  string
	dirty bool
	files map[string]string // the control files before the act
	lines int               // of the journal then
}

// set brings a machine so far as the feat needs it.
func set(t *testing.T, name string, dirty bool) *scene {
	w := bare(t, "[checks]\ncommands = []\n")
	e, err := engine.Open(project.At(w.dir, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	sup, ex := e.Session(engine.Caller{Role: state.Supervisor, Agent: "supervisor:a:1"}), e.Session(engine.Caller{Role: state.Executor, Agent: "executor:b:1"})
	road := feats[name].road
	if road != nil {
		road = append([]step{func(ctx context.Context, _ *engine.Session) error {
			_, err := sup.CreateTask(ctx, "Build it.", "")
			return err
		}}, road...)
	}
	for _, step := range road {
		if _, err := e.View(); err != nil {
			t.Fatal(err)
		}
		w.write("older.json", w.text(".ferrus/STATE.json"))
		if err := step(t.Context(), ex); err != nil {
			t.Fatal(err)
		}
	}
	if road == nil {
		w.write("older.json", w.text(".ferrus/STATE.json"))
	}
	s := &scene{world: w, name: name, dirty: dirty, files: map[string]string{}}
	s.lines = strings.Count(w.text(".ferrus/journal.jsonl"), "\n")
	err = filepath.WalkDir(w.path(".ferrus"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			s.files[path] = w.text(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// restore writes the control files from before the act.
func (s *scene) restore() {
	s.t.Helper()
	if err := os.RemoveAll(s.path(".ferrus")); err != nil {
		s.t.Fatal(err)
	}
	for _, dir := range []string{".ferrus", ".ferrus/logs", ".ferrus/live", ".ferrus/archive"} {
		if err := os.Mkdir(s.path(dir), 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	for path, text := range s.files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// act runs the feat under strace. The account is nil when the process was killed.
func (s *scene) act(trace string, more ...string) (*account, error) {
	s.restore()
	cmd := program(s.t, "feat", s.dir, s.name, map[bool]string{true: "dirty", false: "clean"}[s.dirty])
	log := filepath.Join(s.side, "trace")
	args := append([]string{"strace", "-qq", "-y", "-o", log, "-e", "trace=" + trace}, more...)
	// Signals that interrupt calls would change their number, and a garbage collector closes what was left open.
	cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	cmd.Path, cmd.Args = tracer, slices.Concat(args, []string{"--", cmd.Path}, cmd.Args[1:])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(hangs, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	if !late.Stop() {
		return nil, fmt.Errorf("it hangs: not over after %v", hangs)
	}
	last := out.String()[strings.LastIndexByte(strings.TrimSuffix(out.String(), "\n"), '\n')+1:]
	var a account
	if err == nil && json.Unmarshal([]byte(last), &a) == nil {
		return &a, nil
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return nil, nil
	}
	return nil, fmt.Errorf("it ends with %v: %s%s", err, out.String(), stderr.String())
}

// hangs is when an act is said to hang.
const hangs = 10 * time.Second
