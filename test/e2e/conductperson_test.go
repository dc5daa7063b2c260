//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestAQuestionEndsAHeadlessRun with its agents, and is reported once; the answer is in the hands of the successor.
func TestAQuestionEndsAHeadlessRun(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]string{"the asker leaves": "", "the asker stays": " hang"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leaving := func(o *conductor.Options) {
				if o.Patience.Leaving = kit.Patience; leaves != "" {
					o.Patience.Leaving = brief
				}
			}
			w := newProject(t, conducted+"[notify]\ncommand = 'echo \"$FERRUS_EVENT $FERRUS_QUESTION\" >> SIDE/told'\n",
				plans{"executor": "wait_for_task ask_human" + leaves + "\nwait_for_task submit", "reviewer": approves})
			for range 2 { // a second run reports the same, and starts nobody
				if out := w.run(leaving); out.Exit != 6 || w.state() != state.AwaitingHuman || w.started() != "executor 1" {
					t.Fatalf("exit code %d in %s after %s", out.Exit, w.state(), w.started())
				}
				w.deserted()
			}
			if stopped := w.runs()[0].Stopped; stopped != (leaves != "") {
				t.Errorf("the asker was stopped: %v", stopped)
			}
			if _, err := w.human().Answer(t.Context(), "q1", "Spaces."); err != nil {
				t.Fatal(err)
			}
			if code := w.conductor().over(t); code != 0 || w.state() != state.Complete || w.started() != "executor 2, reviewer 1" {
				t.Errorf("exit code %d in %s after %s", code, w.state(), w.started())
			}
			lines := strings.Split(strings.TrimSpace(w.text(w.side+"/claims")), "\n")
			var packet tools.Result
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &packet); err != nil || len(packet.Decisions) != 1 || packet.Decisions[0].Answer != "Spaces." {
				t.Errorf("%v: the successor's packet has %+v", err, packet.Decisions)
			}
			if told := w.text(w.side + "/told"); told != "question q1\ncomplete \n" {
				t.Errorf("told %q", told)
			}
			w.deserted()
		})
	}
}

// TestAPersonWhoLooksOnIsWaitedFor: the run goes on by itself when the answer comes.
func TestAPersonWhoLooksOnIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task ask_human\nwait_for_task submit", "reviewer": approves})
	over := make(chan conductor.Outcome)
	asked := make(chan conductor.Event, 1)
	go func() {
		over <- w.run(func(o *conductor.Options) {
			o.Headless = false
			o.Tell = func(ev conductor.Event) {
				if ev.Kind == conductor.Asked {
					asked <- ev
				}
			}
		})
	}()
	select {
	case ev := <-asked:
		if ev.Text != "Tabs?" || ev.Run != "q1" || ev.Agent != "executor:command:1" {
			t.Errorf("asked %+v", ev)
		}
	case <-time.After(kit.Patience):
		t.Fatal("nobody is asked")
	}
	if _, err := w.human().Answer(t.Context(), "q1", "Spaces."); err != nil {
		t.Fatal(err)
	}
	if out := <-over; out.Exit != 0 || w.started() != "executor 2, reviewer 1" {
		t.Errorf("exit code %d after %s", out.Exit, w.started())
	}
	w.deserted()
}

func TestAResetEndsTheRun(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task hang\nwait_for_task submit", "reviewer": approves})
	over := make(chan conductor.Outcome)
	go func() { over <- w.run(func(o *conductor.Options) { o.Patience.Leaving = brief }) }()
	w.claims(1)
	if _, err := w.human().Reset(t.Context(), "Enough."); err != nil {
		t.Fatal(err)
	}
	if out := <-over; out.Exit != 3 || w.state() != state.Idle {
		t.Errorf("exit code %d in %s", out.Exit, w.state())
	}
	w.deserted()
	if code := w.conductor().over(t); code != 3 || w.started() != "executor 1" {
		t.Errorf("without a task: exit code %d after %s", code, w.started())
	}
	w.task()
	if code := w.conductor().over(t); code != 0 || w.started() != "executor 2, reviewer 1" {
		t.Errorf("the next task: exit code %d after %s", code, w.started())
	}
	w.deserted()
}

// TestAReleaseReplacesTheExecutor, and does not count against it.
func TestAReleaseReplacesTheExecutor(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted+"[limits]\nmax_executor_dispatches = 1\n", plans{"executor": "wait_for_task hang\nwait_for_task submit", "reviewer": approves})
	c := w.conductor()
	w.claims(1)
	human := w.human()
	if _, err := human.Release(t.Context(), "It hangs."); err != nil {
		t.Fatal(err)
	}
	if err := conductor.Slot(human.Engine(), agents.Executor).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code := c.over(t); code != 0 || w.started() != "executor 2, reviewer 1" || !w.runs()[0].Stopped {
		t.Errorf("exit code %d after %s:\n%s", code, w.started(), c.out)
	}
	w.deserted()
}

// TestAStopLeavesTheTaskAsItIs and nothing else.
func TestAStopLeavesTheTaskAsItIs(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task hang\nwait_for_task submit", "reviewer": approves})
	c := w.conductor()
	w.claims(1)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := c.over(t); code != 9 || w.state() != state.Executing || !w.runs()[0].Stopped {
		t.Errorf("exit code %d in %s: %+v", code, w.state(), w.runs())
	}
	w.deserted()
	if code := w.conductor().over(t); code != 0 || w.started() != "executor 2, reviewer 1" {
		t.Errorf("then: exit code %d after %s", code, w.started())
	}
	w.deserted()
}

// TestWhoIsToldToStopWaitsForNobody: not even for agents that may still leave by themselves.
func TestWhoIsToldToStopWaitsForNobody(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task ask_human hang"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := options(w.side)
	opts.Lease.MaxSilenceSecs = 3600
	opts.Patience.Leaving = time.Hour
	opts.Tell = func(ev conductor.Event) {
		if ev.Kind == conductor.Asked {
			time.AfterFunc(50*time.Millisecond, cancel) // it waits by then
		}
	}
	over := make(chan error, 1)
	go func() {
		_, err := conductor.Run(ctx, w.engine(), opts)
		over <- err
	}()
	select {
	case err := <-over:
		if err != nil && !errors.Is(err, conductor.ErrStopped) {
			t.Error(err)
		}
	case <-time.After(kit.Patience):
		t.Fatal("it waits on")
	}
	w.deserted()
}

// TestARemovedMachineTakesItsAgentsAlong: git clean -fdx in the middle of a run.
func TestARemovedMachineTakesItsAgentsAlong(t *testing.T) {
	t.Parallel()
	w := hanging(t)
	c := w.conductor()
	w.claims(1)
	kit.Eventually(t, "it is removed, whatever is being written", func() bool { return os.RemoveAll(w.path(".ferrus")) == nil })
	if code := c.over(t); code == 0 {
		t.Errorf("exit code %d:\n%s", code, c.out)
	}
	kit.Eventually(t, "no process is left", func() bool { return len(w.processes()) == 0 })
	if _, err := os.Stat(w.path(".ferrus")); err == nil {
		t.Error("somebody has made a folder again")
	}
}
