//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// conducted is a project whose agents are actors; SELF is this binary.
const conducted = `[checks]
commands = []
[hq.executor]
agent = "command"
command = "FERRUS_TEST_PART=agent exec SELF SIDE"
[hq.supervisor]
agent = "command"
command = "FERRUS_TEST_PART=agent exec SELF SIDE"
`

// plans are what the actors do, by duty.
type plans map[string]string

// loop is a whole task with one consultation and one rejection.
var loop = plans{
	"executor":   "wait_for_task consult wait_for_consult submit\nwait_for_task submit",
	"consultant": "wait_for_review respond_consult",
	"reviewer":   "review_pending reject\nreview_pending approve",
}

// loopStarts are the agents that it takes.
var loopStarts = "consultant 1, executor 2, reviewer 2"

// newProject is a new world that has a task, and actors with their plans.
func newProject(t testing.TB, toml string, p plans) *world {
	t.Helper()
	return projectIn(t, newWorld, toml, p)
}

func projectIn(t testing.TB, make func(t testing.TB, toml string) *world, toml string, p plans) *world {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := make(t, strings.ReplaceAll(toml, "SELF", self))
	for duty, plan := range p {
		w.write(w.side+"/"+duty+".plan", plan)
	}
	w.task()
	e := w.engine()
	t.Cleanup(func() {
		if err := conductor.EndAll(context.Background(), e); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) task() {
	w.t.Helper()
	if _, err := w.human().CreateTask(context.Background(), "Build it.", ""); err != nil {
		w.t.Fatal(err)
	}
}

// mark is in the environment of the conductor and of all that it starts.
const mark = "CONDUCTED="

// options are those of a headless conductor that waits for nothing.
func options(side string) conductor.Options {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return conductor.Options{Headless: true, Ferrus: self, Environ: append(os.Environ(), mark+side), BackOff: func(int) time.Duration { return 0 },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Patience: conductor.Patience{Leaving: 2 * time.Second}}
}

// conduct is this binary as ferrus run --headless. It tells what happens as JSON, a line each.
func conduct(root string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	defer notify.Finish(ctx) // as the main function does
	e, err := engine.Open(project.At(root, ""), engine.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	conf, err := e.Config()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	opts := options(os.Getenv(strings.TrimSuffix(mark, "=")))
	opts.Lease = conf.Lease
	opts.Tell = func(ev conductor.Event) { _ = json.NewEncoder(os.Stdout).Encode(ev) }
	out, err := conductor.Run(ctx, e, opts)
	var busy *conductor.BusyError
	switch {
	case errors.As(err, &busy):
		fmt.Println("busy", busy.Pid)
		return 7
	case errors.Is(err, conductor.ErrStopped):
		return 9
	case err != nil:
		fmt.Println(err)
		return 1
	}
	return out.Exit
}

// A conducting is such a process.
type conducting struct {
	*exec.Cmd
	out  *printed
	done chan struct{}
}

// printed is what a process has printed, for several goroutines.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *printed) WriteString(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text)
}

func (s *printed) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (w *world) conductor() *conducting {
	w.t.Helper()
	c := &conducting{Cmd: program(w.t, "conduct", w.dir), out: &printed{}, done: make(chan struct{})}
	c.Env = append(c.Env, mark+w.side)
	// A pipe of our own: the agents outlive the conductor and must not be waited for.
	out, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.out.WriteString(lines.Text() + "\n")
		}
		_ = c.Wait()
	}()
	w.t.Cleanup(func() { _ = c.Process.Kill(); <-c.done })
	return c
}

// over is the exit code of a conductor that ends.
func (c *conducting) over(t testing.TB) int {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(kit.Patience):
		t.Fatalf("the conductor goes on:\n%s", c.out)
	}
	return c.ProcessState.ExitCode()
}

// run conducts in this process until the end.
func (w *world) run(change ...func(*conductor.Options)) conductor.Outcome {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	e := w.engine()
	conf, err := e.Config()
	if err != nil {
		w.t.Fatal(err)
	}
	opts := options(w.side)
	opts.Lease = conf.Lease
	for _, c := range change {
		c(&opts)
	}
	out, err := conductor.Run(ctx, e, opts)
	if err != nil {
		w.t.Errorf("the conductor: %v", err)
	}
	notify.Finish(ctx)
	return out
}

// started counts the actors by duty, as they have written it down themselves.
func (w *world) started() string {
	n := map[string]int{}
	for line := range strings.Lines(w.text(w.side + "/starts")) {
		duty, _, _ := strings.Cut(line, " ")
		n[duty]++
	}
	var list []string
	for duty, n := range n {
		list = append(list, fmt.Sprintf("%s %d", duty, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// numbers are the process ids that the actors have written into a file.
func (w *world) numbers(file string) (ids []int) {
	for line := range strings.Lines(w.text(w.side + "/" + file)) {
		fields := strings.Fields(line)
		if id, err := strconv.Atoi(fields[len(fields)-1]); err == nil && strings.HasSuffix(line, "\n") {
			ids = append(ids, id)
		}
	}
	return ids
}

// runs are those that are written down of the newest task.
func (w *world) runs() []process.Run {
	w.t.Helper()
	files, _ := filepath.Glob(w.path(".ferrus/runs/*.jsonl"))
	if len(files) == 0 {
		return nil
	}
	slices.Sort(files)
	list, err := process.Runs(files[len(files)-1])
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) state() state.State {
	w.t.Helper()
	snap, err := w.engine().View()
	if err != nil {
		w.t.Fatal(err)
	}
	return snap.Task.State
}

// processes are the command lines of what a conductor has started and lives, and of itself.
func (w *world) processes() (lines []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(mark+w.side)) {
			line, _ := os.ReadFile(filepath.Dir(path) + "/cmdline")
			lines = append(lines, string(line))
		}
	}
	return lines
}

// deserted is that nothing of a run is left: no process, no lock, no record without an end.
func (w *world) deserted() {
	w.t.Helper()
	left := w.processes()
	// A shim frees its slot just before it ends.
	for until := time.Now().Add(time.Second); len(left) > 0 && time.Now().Before(until); left = w.processes() {
		time.Sleep(time.Millisecond)
	}
	for _, line := range left {
		w.t.Errorf("left behind: %q", line)
	}
	if h, busy := conductor.Conductor(w.path(".ferrus")); busy {
		w.t.Errorf("the conductor's lock is held: %+v", h)
	}
	for _, d := range agents.Duties() {
		if o, taken := conductor.Slot(w.engine(), d).Taken(); taken {
			w.t.Errorf("the slot of the %s is taken: %+v", d, o)
		}
	}
	for _, r := range w.runs() {
		if !r.Over() {
			w.t.Errorf("written down: %+v", r)
		}
	}
}

func TestAWholeTaskIsConducted(t *testing.T) {
	t.Parallel()
	w := projectIn(t, repository, conducted, loop)
	began := time.Now()
	c := w.conductor()
	if code := c.over(t); code != 0 || w.state() != state.Complete || w.started() != loopStarts || len(w.runs()) != 5 {
		t.Errorf("exit code %d in %s after %s, %d runs:\n%s", code, w.state(), w.started(), len(w.runs()), c.out)
	}
	t.Logf("one consultation, one rejection, %s in %v", w.started(), time.Since(began).Round(time.Millisecond))
	w.deserted()
	if w.count(state.Consult) != 1 || w.count(state.Reject) != 1 || w.count(state.Approve) != 1 || w.count(state.Claim) != 2 {
		t.Error("the journal tells something else")
	}
	for _, kind := range []conductor.EventKind{conductor.Moved, conductor.Started, conductor.Ended} {
		if !strings.Contains(c.out.String(), fmt.Sprintf("%q:%q", "kind", kind)) {
			t.Errorf("nobody was told of %s", kind)
		}
	}
	if code := w.conductor().over(t); code != 0 || w.started() != loopStarts {
		t.Errorf("once more: exit code %d after %s", code, w.started())
	}
}

// ended reports whether the process has ended.
func (c *conducting) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func TestOneOfManyConducts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 8} {
		w := newProject(t, conducted, plans{"executor": "wait_for_task until:go submit", "reviewer": "review_pending approve"})
		all := make([]*conducting, n)
		for i := range all {
			all[i] = w.conductor()
		}
		var wg sync.WaitGroup
		ended := make(chan *conducting, n)
		for _, c := range all {
			wg.Go(func() { <-c.done; ended <- c })
		}
		for range n - 1 {
			select {
			case c := <-ended:
				if code := c.over(t); code != 7 || !strings.HasPrefix(c.out.String(), "busy ") {
					t.Errorf("one of %d ended with %d: %s", n, code, c.out)
				}
			case <-time.After(kit.Patience):
				t.Fatal("more than one conducts")
			}
		}
		var one *conducting
		for _, c := range all {
			if !c.ended() {
				one = c
			}
		}
		h, busy := conductor.Conductor(w.path(".ferrus"))
		if one == nil || !busy || h.Pid != one.Process.Pid {
			t.Fatalf("of %d conducts %+v", n, h)
		}
		for _, c := range all {
			if c != one && c.out.String() != fmt.Sprintf("busy %d\n", one.Process.Pid) {
				t.Errorf("another one says %q, not %d", c.out, one.Process.Pid)
			}
		}
		kit.Eventually(t, "the executor has the work", func() bool { return w.count(state.Claim) == 1 })
		w.write(w.side+"/go", "go")
		if code := one.over(t); code != 0 || w.started() != "executor 1, reviewer 1" {
			t.Errorf("of %d: exit code %d after %s", n, code, w.started())
		}
		wg.Wait()
		w.deserted()
	}
}
