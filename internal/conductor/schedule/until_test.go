//go:build unix

package schedule

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A watch is a clock that a test puts forward.
type watch struct{ ahead atomic.Int64 }

func (w *watch) now() time.Time          { return time.Now().Add(time.Duration(w.ahead.Load())) }
func (w *watch) forward(d time.Duration) { w.ahead.Add(int64(d)) }

// upTo has a run of many tasks end in an hour, with half an hour for those that work then.
func (y *yard) upTo(w *watch, parallel int) (Outcome, error) {
	until := conductor.Until{At: time.Now().Add(time.Hour), Grace: 30 * time.Minute}
	opts := options(y.dir, parallel, func(Event) {})
	conduct := opts.Conduct
	opts.Until, opts.Now = until, w.now
	opts.Conduct = func(branch string, e *engine.Engine) (conductor.Options, error) {
		o, err := conduct(branch, e)
		o.Until, o.Now = until, w.now
		return o, err
	}
	return Run(y.t.Context(), y.dir, opts)
}

// TestNothingIsStartedAfterUntil: who works goes on, and a submission waits for its review. Nothing else begins, and
// the exit code says that something is open.
func TestNothingIsStartedAfterUntil(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges)
	y.say("hold")
	y.branch("write one.txt", "one")
	y.branch("write two.txt", "two")
	y.queued("three", "write three.txt")
	var w watch
	var out Outcome
	ended := make(chan error, 1)
	go func() {
		var err error
		out, err = y.upTo(&w, 1)
		ended <- err
	}()
	kit.Eventually(t, "one is at work", func() bool { return strings.Contains(text(y.side, "log"), "one x") })
	w.forward(time.Hour)
	must(t, os.Remove(filepath.Join(y.side, "hold")))
	must(t, <-ended)
	if out.Exit != conductor.ExitLate || out.Queued != 1 {
		t.Errorf("exit %d, %d in the queue", out.Exit, out.Queued)
	}
	if one, two := y.task("one").State, y.task("two"); one != state.Reviewing || two.State != state.Executing || y.count("two", state.Claim) != 0 {
		t.Errorf("one is %s, two is %s", one, two.State)
	}
	out, err := y.upTo(&watch{}, 2)
	must(t, err)
	if out.Exit != 0 || text(y.dir, "one.txt") == "" || text(y.dir, "two.txt") == "" || text(y.dir, "three.txt") == "" {
		t.Errorf("the next run: exit %d", out.Exit)
	}
}

// TestApprovedWorkIsMergedAfterUntil: a merge starts no agent.
func TestApprovedWorkIsMergedAfterUntil(t *testing.T) {
	t.Parallel()
	y := newYard(t, merges)
	y.branch("write one.txt", "one")
	e := y.on("one").Engine()
	_, err := RunTask(t.Context(), e, taskOptions(e))
	must(t, err)
	y.branch("write two.txt", "two")
	var w watch
	w.forward(61 * time.Minute)
	out, err := y.upTo(&w, 1)
	must(t, err)
	if out.Exit != conductor.ExitLate || text(y.dir, "one.txt") != "one\n" || y.count("two", state.Claim) != 0 {
		t.Errorf("exit %d, one.txt is %q", out.Exit, text(y.dir, "one.txt"))
	}
}

// TestAgentsEndWithTheGrace: as by ferrus stop.
func TestAgentsEndWithTheGrace(t *testing.T) {
	t.Parallel()
	y := newYard(t, "")
	y.say("hold")
	y.branch("write one.txt", "one")
	var w watch
	ended := make(chan Outcome, 1)
	go func() {
		out, err := y.upTo(&w, 1)
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	kit.Eventually(t, "one is at work", func() bool { return strings.Contains(text(y.side, "log"), "one x") })
	w.forward(90 * time.Minute)
	if out := <-ended; out.Exit != conductor.ExitLate || len(out.Tasks) != 1 || out.Tasks[0].State != state.Executing {
		t.Errorf("%+v", out)
	}
	e := y.on("one").Engine()
	runs, err := conductor.AllRuns(t.Context(), e, y.task("one").TaskID)
	must(t, err)
	if len(runs) != 1 || !runs[0].Stopped {
		t.Errorf("%+v", runs)
	}
}

// TestDelegatesGoOnAfterTheirTask: when the time has passed, and the agent of the task has ended, those of its delegates have the same grace.
func TestDelegatesGoOnAfterTheirTask(t *testing.T) {
	t.Parallel()
	y := newFamily(t, limits, "parts: write a.txt")
	y.say("hold-write")
	e := y.on("").Engine()
	var w watch
	opts := taskOptions(e)
	opts.Until, opts.Now = conductor.Until{At: time.Now().Add(time.Hour), Grace: 30 * time.Minute}, w.now
	type end struct {
		out conductor.Outcome
		err error
	}
	ended := make(chan end, 1)
	go func() {
		out, err := RunTask(t.Context(), e, opts)
		ended <- end{out, err}
	}()
	kit.Eventually(t, "the part is at work", func() bool { return strings.Contains(text(y.side, "log"), "executor d") })
	w.forward(time.Hour)
	must(t, conductor.Slot(e, agents.Executor).Stop(t.Context()))
	kit.Eventually(t, "the conductor of the task has ended", func() bool {
		_, busy := conductor.Conductor(e.Place().Path())
		return !busy
	})
	part := y.task("").Delegates[0]
	must(t, os.Remove(filepath.Join(y.side, "hold-write")))
	got := <-ended
	must(t, got.err)
	if is := y.task(part.Branch); got.out.Exit != conductor.ExitLate || is.State != state.Reviewing {
		t.Errorf("exit %d, the part is %s", got.out.Exit, is.State)
	}
}
