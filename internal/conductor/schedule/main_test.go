//go:build unix

package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// partEnv is the environment variable that makes this binary another program.
const partEnv = "FERRUS_TEST_PART"

// diesEnv names the event at which a fleet in a process of its own kills itself: its kind, and its branch.
const diesEnv = "FERRUS_TEST_DIES"

func TestMain(m *testing.M) {
	checks.Helper()
	process.Shim(run.Hold)
	switch os.Getenv(partEnv) {
	case "agent":
		os.Exit(agent())
	case "family-agent":
		os.Exit(familyAgent())
	case "family":
		os.Exit(anotherTask())
	case "fleet":
		os.Exit(another())
	}
	os.Exit(enginetest.Main(m.Run))
}

// rounds tries something once, or many times.
func rounds(t *testing.T, try func(*testing.T)) {
	n, bad := 1, 0
	if kit.Full() {
		n = 30
	}
	for i := range n {
		if !t.Run(strconv.Itoa(i), try) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", n, bad)
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// person is on whose behalf the fleet works.
var person = engine.Caller{Role: state.Human, Agent: "human", TTY: true}

// A yard is a project with branches.
type yard struct {
	t    *testing.T
	dir  string
	side string // a folder beside it, by which agents and tests tell each other things

	mu     sync.Mutex
	events []Event
}

// newYard makes a project whose agents are this binary, see agent.
func newYard(t *testing.T, toml string) *yard {
	t.Helper()
	return newProject(t, "agent", toml)
}

// newProject makes a project whose agents are a part of this binary.
func newProject(t *testing.T, agent, toml string) *yard {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	y := &yard{t: t, dir: filepath.Join(base, "p"), side: filepath.Join(base, "side")}
	must(t, errors.Join(os.Mkdir(y.dir, 0o755), os.Mkdir(y.side, 0o755)))
	self, err := os.Executable()
	must(t, err)
	command := `command = "env ` + partEnv + `=` + agent + ` ` + self + ` ` + y.side + ` {branch}"`
	y.write("ferrus.toml", "[checks]\ncommands = [\"true\"]\n"+toml+"[hq.supervisor]\nagent = \"command\"\n"+command+"\n[hq.executor]\nagent = \"command\"\n"+command+"\n")
	y.write(".gitignore", ".ferrus\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "begin"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Dir = y.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	sharedtest.Init(t, y.dir)
	return y
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	path := filepath.Join(y.dir, name)
	must(y.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
}

// text is what a file of the project or of the side holds, "" where there is none.
func text(dir, name string) string {
	raw, _ := os.ReadFile(filepath.Join(dir, name))
	return string(raw)
}

// say makes a file of the side.
func (y *yard) say(name string) {
	y.t.Helper()
	must(y.t, os.WriteFile(filepath.Join(y.side, name), nil, 0o600))
}

// on has a session of the person on a branch, "" for the project.
func (y *yard) on(branch string) *engine.Session {
	y.t.Helper()
	e, err := engine.Open(project.At(y.dir, branch), engine.Options{Log: quiet})
	must(y.t, err)
	y.t.Cleanup(func() { e.Close() })
	return e.Session(person)
}

func (y *yard) task(branch string) state.Task {
	y.t.Helper()
	now, err := y.on(branch).Engine().View()
	must(y.t, err)
	return now.Task
}

// count is how often something stands in the journal of a branch.
func (y *yard) count(branch string, ev state.Event) (n int) {
	y.t.Helper()
	for l, err := range y.on(branch).Engine().Store().History() {
		must(y.t, err)
		if l.Event == ev {
			n++
		}
	}
	return n
}

// branch makes branches with a task each.
func (y *yard) branch(task string, names ...string) {
	y.t.Helper()
	_, err := branch.Create(y.t.Context(), y.on(""), branch.Fork{Names: names, Own: true})
	must(y.t, err)
	for _, name := range names {
		_, err := y.on(name).CreateTask(y.t.Context(), task, "")
		must(y.t, err)
	}
}

func options(dir string, parallel int, tell func(Event)) Options {
	return Options{Parallel: parallel, Caller: person, Engine: engine.Options{Log: quiet}, Tell: tell, Every: 20 * time.Millisecond,
		Conduct: func(_ string, e *engine.Engine) (conductor.Options, error) {
			conf, err := e.Config()
			return conductor.Options{Headless: true, Hurry: true, Ferrus: "/bin/false", Lease: conf.Lease, Environ: os.Environ(), Log: quiet,
				BackOff: func(int) time.Duration { return time.Millisecond }}, err
		}}
}

// run sees all through.
func (y *yard) run(ctx context.Context, parallel int) (Outcome, error) {
	return Run(ctx, y.dir, options(y.dir, parallel, func(e Event) {
		y.mu.Lock()
		defer y.mu.Unlock()
		y.events = append(y.events, e)
		if e.Kind == Unmerged {
			_ = os.WriteFile(filepath.Join(y.side, "unmerged-"+e.Branch), nil, 0o600)
		}
	}))
}

// told are the texts of the events of a kind about a branch.
func (y *yard) told(branch string, kind EventKind) (list []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, e := range y.events {
		if e.Branch == branch && e.Kind == kind {
			list = append(list, e.Text)
		}
	}
	return list
}

// another is a fleet in a process of its own; what happens it prints.
func another() int {
	out := json.NewEncoder(os.Stdout)
	_, err := Run(context.Background(), os.Args[1], options(os.Args[1], 2, func(e Event) {
		_ = out.Encode(e)
		if os.Getenv(diesEnv) == string(e.Kind)+" "+e.Branch {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}))
	var busy *conductor.BusyError
	if errors.As(err, &busy) {
		return 7
	}
	return 0
}

// start starts a part of this binary, "fleet" or "family", in a process of its own.
func (y *yard) start(part string, env ...string) *exec.Cmd {
	y.t.Helper()
	cmd := exec.Command(os.Args[0], y.dir)
	cmd.Env = append(append(os.Environ(), partEnv+"="+part), env...)
	must(y.t, cmd.Start())
	return cmd
}

// agent plays a role at a branch, in its work tree: an executor writes the file that the task names, after "write " up to a
// blank, notes that it was there, waits while the side has "hold", and submits; where the task has "fail" it is rejected until
// it has failed; a reviewer approves.
func agent() int { return play(reviewer, executor) }

// play opens the branch in whose work tree the process is, reads the text of its task, and plays the duty that the environment names. It returns the
// exit code. The arguments of the process are the side and the branch.
func play(reviewer, executor func(ctx context.Context, side, branch, task string, s *engine.Session) int) int {
	side, branch := os.Args[1], os.Args[2]
	place, err := project.Find(context.Background(), ".")
	if err != nil {
		return 3
	}
	e, err := engine.Open(project.At(place.Root, branch), engine.Options{Log: quiet})
	if err != nil {
		return 4
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	now, err := e.View()
	if err != nil {
		return 5
	}
	task, err := store.Text(e.Store(), now, state.TaskDoc)
	if err != nil {
		return 6
	}
	if os.Getenv("FERRUS_DUTY") != "executor" {
		return reviewer(ctx, side, branch, task, e.Session(engine.Caller{Role: state.Supervisor, Agent: "supervisor:command:1"}))
	}
	return executor(ctx, side, branch, task, e.Session(engine.Caller{Role: state.Executor, Agent: "executor:command:1"}))
}

func reviewer(ctx context.Context, side, branch, work string, s *engine.Session) int {
	_, _, err := s.Review(ctx)
	if err != nil {
		return 7
	}
	if strings.Contains(work, "fail "+branch) {
		if strings.Contains(work, "when try.1 waits") {
			waitFile(ctx, filepath.Join(side, "unmerged-try.1"), true)
		}
		_, err = s.Reject(ctx, "No.", "")
	} else {
		_, err = s.Approve(ctx, "", "")
	}
	if err != nil {
		return 8
	}
	return 0
}

func executor(ctx context.Context, side, branch, work string, s *engine.Session) int {
	if got, _, err := s.AwaitTask(ctx, kit.Patience, true); err != nil || got == nil {
		return 9
	}
	present := filepath.Join(side, "at-"+branch)
	f, err := os.OpenFile(filepath.Join(side, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil || os.WriteFile(present, nil, 0o600) != nil {
		return 10
	}
	there, _ := filepath.Glob(filepath.Join(side, "at-*"))
	_, _ = f.WriteString(branch + " " + strings.Repeat("x", len(there)) + "\n")
	waitFile(ctx, filepath.Join(side, "hold"), false)
	_, after, _ := strings.Cut(work, "write ")
	if name := strings.Fields(after); len(name) > 0 {
		_ = os.WriteFile(name[0], []byte(branch+"\n"), 0o644)
	}
	_ = os.Remove(present)
	if _, err := s.Submit(ctx, engine.Submitting{Summary: "Done.", Verification: "Looked.", NoChange: "None is needed."}, kit.Patience); err != nil {
		return 11
	}
	return 0
}

// waitFile waits until a file is there, or is gone.
func waitFile(ctx context.Context, path string, there bool) {
	for ctx.Err() == nil {
		if _, err := os.Stat(path); (err == nil) == there {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// ends ends a process that this test has started, as SIGKILL does.
func ends(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
}
