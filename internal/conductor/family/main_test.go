//go:build unix

package family

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// part is the environment variable that makes this binary another program.
const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	checks.Helper()
	process.Shim(nil)
	switch os.Getenv(part) {
	case "agent":
		os.Exit(agent())
	case "family":
		os.Exit(another())
	}
	os.Exit(kit.Main(func() int { return sharedtest.Main(m.Run) }))
}

var full = flag.Bool("full", false, "kill at many more points: some minutes")

// patience is how long a test waits for what other processes do.
const patience = 60 * time.Second

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// A yard is a project with a task.
type yard struct {
	t    *testing.T
	dir  string
	side string // a folder beside it, by which agents and tests tell each other things
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newYard makes a project whose agents are this binary, see agent, with a task that is cut into parts.
func newYard(t *testing.T, toml, task string) *yard {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	y := &yard{t: t, dir: filepath.Join(base, "p"), side: filepath.Join(base, "side")}
	must(t, errors.Join(os.Mkdir(y.dir, 0o755), os.Mkdir(y.side, 0o755)))
	self, err := os.Executable()
	must(t, err)
	command := `command = "env ` + part + `=agent ` + self + ` ` + y.side + ` {branch}"`
	y.write("ferrus.toml", "[checks]\ncommands = [\"true\"]\n"+toml+"[hq.supervisor]\nagent = \"command\"\n"+command+"\n[hq.executor]\nagent = \"command\"\n"+command+"\n")
	y.write(".gitignore", ".ferrus\n")
	y.write("code.txt", "one\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "begin"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Dir = y.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	sharedtest.Init(t, y.dir)
	t.Cleanup(y.stop)
	_, err = y.on("").CreateTask(t.Context(), task, "")
	must(t, err)
	return y
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	must(y.t, os.WriteFile(filepath.Join(y.dir, name), []byte(text), 0o644))
}

func text(dir, name string) string {
	raw, _ := os.ReadFile(filepath.Join(dir, name))
	return string(raw)
}

// say makes a file of the side.
func (y *yard) say(name string) {
	y.t.Helper()
	must(y.t, os.WriteFile(filepath.Join(y.side, name), nil, 0o600))
}

// on has a session of a person on a branch, "" for the project.
func (y *yard) on(branch string) *engine.Session {
	y.t.Helper()
	e, err := engine.Open(project.At(y.dir, branch), engine.Options{Log: quiet})
	must(y.t, err)
	y.t.Cleanup(func() { e.Close() })
	return e.Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
}

func (y *yard) task(branch string) state.Task {
	y.t.Helper()
	e, err := engine.Open(project.At(y.dir, branch), engine.Options{Log: quiet})
	must(y.t, err)
	defer e.Close()
	now, err := e.View()
	must(y.t, err)
	return now.Task
}

// counts is how often each event stands in the journal of a branch.
func (y *yard) counts(branch string) map[state.Event]int {
	y.t.Helper()
	n := map[state.Event]int{}
	e, err := engine.Open(project.At(y.dir, branch), engine.Options{Log: quiet})
	must(y.t, err)
	defer e.Close()
	for l, err := range e.Store().History() {
		must(y.t, err)
		n[l.Event]++
	}
	return n
}

func options(e *engine.Engine) Options {
	conf, _ := e.Config()
	return Options{Options: conductor.Options{Headless: true, Hurry: true, Ferrus: "/bin/false", Lease: conf.Lease, Environ: os.Environ(), Log: quiet,
		BackOff: func(int) time.Duration { return time.Millisecond }}}
}

// run sees the task through.
func (y *yard) run(ctx context.Context) (conductor.Outcome, error) {
	e := y.on("").Engine()
	return Run(ctx, e, options(e))
}

// stop stops the agents that work yet, for a test may end before they do.
func (y *yard) stop() {
	branches, err := project.Branches(y.dir)
	must(y.t, err)
	for _, b := range append(branches, "") {
		e, err := engine.Open(project.At(y.dir, b), engine.Options{Log: quiet})
		must(y.t, err)
		for _, d := range agents.Duties() {
			must(y.t, conductor.Slot(e, d).Stop(context.Background()))
		}
		must(y.t, e.Close())
	}
}

// another is a family in a process of its own.
func another() int {
	e, err := engine.Open(project.At(os.Args[1], ""), engine.Options{Log: quiet})
	if err != nil {
		return 2
	}
	defer e.Close()
	out, err := Run(context.Background(), e, options(e))
	if err != nil {
		return 3
	}
	return out.Exit
}

// start starts a family in a process of its own.
func (y *yard) start() *exec.Cmd {
	y.t.Helper()
	cmd := exec.Command(os.Args[0], y.dir)
	cmd.Env = append(os.Environ(), part+"=family")
	must(y.t, cmd.Start())
	return cmd
}

// ends ends a process that this test has started, as SIGKILL does.
func ends(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
}

// eventually polls, for what other processes do without telling.
func eventually(t testing.TB, what string, claim func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !claim(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// note adds a line to the log of the side: who worked.
func note(side, line string) {
	if f, err := os.OpenFile(filepath.Join(side, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = fmt.Fprintln(f, line)
		_ = f.Close()
	}
}

// waits waits until a file of the side is gone.
func waits(ctx context.Context, path string) {
	for ctx.Err() == nil {
		if _, err := os.Stat(path); err != nil {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// once reports whether this is the first time that something is asked, of all processes.
func once(side, name string) bool {
	return os.Mkdir(filepath.Join(side, "once-"+name), 0o700) == nil
}
