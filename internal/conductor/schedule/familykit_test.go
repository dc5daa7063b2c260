//go:build unix

package schedule

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// newFamily makes a project whose agents are this binary, see familyAgent, with a task that is cut into parts.
func newFamily(t *testing.T, toml, task string) *yard {
	t.Helper()
	y := newProject(t, "family-agent", toml)
	t.Cleanup(y.stop)
	_, err := y.on("").CreateTask(t.Context(), task, "")
	must(t, err)
	return y
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

func taskOptions(e *engine.Engine) TaskOptions {
	conf, _ := e.Config()
	return TaskOptions{Options: conductor.Options{Headless: true, Hurry: true, Ferrus: "/bin/false", Lease: conf.Lease, Environ: os.Environ(), Log: quiet,
		BackOff: func(int) time.Duration { return time.Millisecond }}}
}

// run sees the task through.
func (y *yard) runTask(ctx context.Context) (conductor.Outcome, error) {
	e := y.on("").Engine()
	return RunTask(ctx, e, taskOptions(e))
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
func anotherTask() int {
	e, err := engine.Open(project.At(os.Args[1], ""), engine.Options{Log: quiet})
	if err != nil {
		return 2
	}
	defer e.Close()
	out, err := RunTask(context.Background(), e, taskOptions(e))
	if err != nil {
		return 3
	}
	return out.Exit
}

// note adds a line to the log of the side: who worked.
func note(side, line string) {
	if f, err := os.OpenFile(filepath.Join(side, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = fmt.Fprintln(f, line)
		_ = f.Close()
	}
}

// once reports whether this is the first time that something is asked, of all processes.
func once(side, name string) bool {
	return os.Mkdir(filepath.Join(side, "once-"+name), 0o700) == nil
}
