package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/test/projecttest"
)

// sleepy is a project in which checks, agents and workers say their process and then sleep.
const sleepy = `[checks]
commands = ["echo $$ >child; exec sleep 1000"]
[hq.supervisor]
agent = "command"
command = "sleep 1000"
[hq.executor]
agent = "command"
command = "sh -c 'echo $$ >child; exec sleep 1000'"
`

// sleeping makes such a project, with a task if there is a text for one, on the branch if there is one.
func sleeping(t testing.TB, task string, branches ...string) string {
	t.Helper()
	dir := projecttest.New(t, branches...)
	for name, text := range map[string]string{"ferrus.toml": sleepy, "held.log": "it goes on\n",
		"workflows.json": `{"slow": {"phases": [{"id": "all", "workers": [{"role": "sleeper", "final": true, "task": "Sleep"}]}]}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".ferrus", "logs"), 0o700),
		os.Rename(filepath.Join(dir, "held.log"), filepath.Join(dir, ".ferrus", "logs", "held.log")), agreement.Agree(dir)); err != nil {
		t.Fatal(err)
	}
	if task != "" {
		projecttest.Task(t, project.At(dir, strings.Join(branches, "")), task)
	}
	return dir
}

// atTerminal starts ferrus in a terminal.
func atTerminal(t *testing.T, dir string, columns, rows int, args ...string) (*pty, *exec.Cmd) {
	t.Helper()
	p, err := openPty(columns, rows)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ferrus", args...)
	cmd.Dir, cmd.Stdin = dir, p.tty
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "FERRUS_AGENT=")
	if err := p.run(cmd, func(string) {}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return p, cmd
}

// lasting are commands that wait, and what they show when they do.
var lasting = []struct {
	name, task string
	args       []string
	shows      string
	child      bool // the command has started one, which ends with it
	last       string
	term       bool // try SIGTERM as well
	branches   []string
	ends       bool // it ends on its own, and so is started just before the signal
}{
	{name: "run", term: true, args: []string{"run", "sleep"}, shows: "command started", child: true, last: "ferrus diff"},
	{name: "resume", task: "sleep", args: []string{"resume"}, shows: "command started", child: true, last: "ferrus diff"},
	{name: "run --parallel", task: "sleep", branches: []string{"one"}, args: []string{"run", "--parallel", "1"}, shows: "command started", last: "ferrus branches"},
	{name: "status --watch", term: true, task: "sleep", args: []string{"status", "--watch"}, shows: "next  "},
	{name: "logs -f", args: []string{"logs", "-f", "held"}, shows: "it goes on"},
	{name: "check", term: true, task: "sleep", args: []string{"check"}, shows: "running 1 command", child: true, last: "run the command again"},
	{name: "wait-file", args: []string{"wait-file", "nothing"}, shows: "Waiting... 1", last: "run the command again"},
	{name: "task -f -", args: []string{"task", "-f", "-"}, shows: "end with ctrl-D", last: "run the command again"},
	{name: "reset", task: "sleep", args: []string{"reset"}, shows: "[y/N]", last: "ferrus status"},
	{name: "serve", term: true, args: []string{"serve"}, shows: "no --role"},
	{name: "serve --http", args: []string{"serve", "--http", "127.0.0.1:0"}, shows: "listening"},
	{name: "demo", ends: true, args: []string{"demo"}, shows: "ferrus demo: ", last: "run the command again"},
	{name: "pipeline run", args: []string{"pipeline", "run", "slow", "night"}, shows: "sleeper", last: "ferrus pipeline status"},
}

// TestCtrlCEndsEveryCommandThatWaits with 130, SIGTERM with 143, the children ended, and the terminal at the beginning of a
// line.
func TestCtrlCEndsEveryCommandThatWaits(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // the demonstration leaves its repository
	var list []*interruption
	for i, c := range lasting {
		if c.ends {
			continue
		}
		list = append(list, begun(t, i, syscall.SIGINT))
		if c.term {
			list = append(list, begun(t, i, syscall.SIGTERM))
		}
	}
	for _, in := range list { // all of them wait by now, or soon
		t.Run(lasting[in.of].name+", "+in.signal.String(), in.test)
	}
	for i, c := range lasting {
		if c.ends {
			t.Run(c.name, func(t *testing.T) { begun(t, i, syscall.SIGINT).test(t) })
		}
	}
}

// An interruption is a command that waits in a terminal, and the signal that ends it.
type interruption struct {
	of     int // of lasting
	signal syscall.Signal
	dir    string
	pty    *pty
	cmd    *exec.Cmd
}

func begun(t *testing.T, of int, signal syscall.Signal) *interruption {
	c := lasting[of]
	in := &interruption{of: of, signal: signal, dir: sleeping(t, c.task, c.branches...)}
	in.pty, in.cmd = atTerminal(t, in.dir, 80, 24, c.args...)
	return in
}

func (in *interruption) test(t *testing.T) {
	c, exit := lasting[in.of], 128+int(in.signal)
	in.pty.shows(t, c.shows)
	child := 0
	if c.child {
		child = childIn(t, filepath.Join(in.dir, "child"))
	}
	if in.signal == syscall.SIGTERM {
		_ = in.cmd.Process.Signal(in.signal)
	} else if err := in.pty.write("\x03"); err != nil {
		t.Fatal(err)
	}
	_ = in.pty.wait(in.cmd)
	shown := in.pty.screen.String()
	if code := in.cmd.ProcessState.ExitCode(); code != exit {
		t.Errorf("exit code %d, not %d", code, exit)
	}
	lines := strings.Split(strings.TrimRight(shown, "\n"), "\n")
	if in.pty.screen.column != 0 || !strings.Contains(lines[len(lines)-1], c.last) {
		t.Errorf("the last line is not %q, or the cursor stands in column %d", c.last, in.pty.screen.column)
	}
	if child != 0 && proc.Alive(child) || proc.Tree(in.cmd.Process.Pid).Alive() {
		t.Error("a child lives")
	}
	if t.Failed() {
		t.Log("\n" + shown)
	}
	if c.args[0] == "pipeline" { // its workers go on without it
		ferrusExits(t, in.dir, 0, "pipeline", "cancel", "--yes")
	}
}

// childIn waits for the number of a process in a file, and removes it.
func childIn(t *testing.T, path string) int {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSuffix(string(text), "\n")); err == nil && strings.HasSuffix(string(text), "\n") {
			_ = os.Remove(path)
			return pid
		}
		if time.Now().After(end) {
			t.Fatalf("nothing in %s", path)
		}
	}
}

// ferrusIn is a command of a person in a project.
func ferrusIn(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("ferrus", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "FERRUS_AGENT=")
	return cmd
}

// ferrusExits runs a command that ends with an exit code, and returns its output.
func ferrusExits(t *testing.T, dir string, exit int, args ...string) string {
	t.Helper()
	cmd := ferrusIn(dir, args...)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exit {
		t.Fatalf("ferrus %v: exit code %d, not %d\n%s", args, code, exit, out)
	}
	return string(out)
}

// TestARunThatIsStoppedSaysSo by its exit code, and ferrus stop has done what it was asked for.
func TestARunThatIsStoppedSaysSo(t *testing.T) {
	t.Parallel()
	dir := sleeping(t, "sleep")
	p, cmd := atTerminal(t, dir, 80, 24, "resume", "--json")
	p.shows(t, `"kind":"started"`)
	child := childIn(t, filepath.Join(dir, "child"))
	ferrusExits(t, dir, 0, "stop")
	_ = p.wait(cmd)
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitStopped || !strings.Contains(p.raw.String(), `"kind":"end","exit":9,`) {
		t.Errorf("exit code %d\n%s", code, p.screen)
	}
	if proc.Alive(child) {
		t.Error("its agent lives")
	}
	ferrusExits(t, dir, 0, "stop") // nothing to do
}
