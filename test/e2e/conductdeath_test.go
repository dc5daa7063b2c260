//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// often lets an executor come to nothing as often as a test wants.
const often = "[limits]\nmax_executor_dispatches = 1000\n"

// approves is a reviewer that approves.
const approves = "review_pending approve"

// claims waits for the how manieth claim, and returns the executor that runs then.
func (w *world) claims(n int) process.Occupant {
	w.t.Helper()
	kit.Eventually(w.t, fmt.Sprintf("claim %d", n), func() bool { return strings.Count(w.text(w.side+"/claims"), "\n") >= n })
	o, taken := conductor.Slot(w.engine(), agents.Executor).Taken()
	if !taken {
		w.t.Fatal("who has claimed is gone")
	}
	return o
}

func (w *world) kill(pid int) {
	w.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		w.t.Fatalf("kill %d: %v", pid, err)
	}
}

// deaths strikes down an executor in mid-task, again and again, and holds that the next one has the work. It returns the runs
// of those that died, and logs how long the others took: test/bench has a limit for that.
func (w *world) deaths(what string, strike func(process.Occupant)) []process.Run {
	w.t.Helper()
	c := w.conductor()
	n := rounds(5, 50)
	var times []time.Duration
	for i := range n {
		o := w.claims(i + 1)
		began := time.Now()
		strike(o)
		kit.Eventually(w.t, "the successor claims", func() bool { return strings.Count(w.text(w.side+"/claims"), "\n") > i+1 })
		times = append(times, time.Since(began))
	}
	_, _, text := spread(times)
	w.t.Logf("from SIGKILL of the %s to the successor's claim: %s", what, text)
	w.finished(c)
	if got := w.started(); got != fmt.Sprintf("executor %d, reviewer 1", n+1) {
		w.t.Error(got)
	}
	return w.runs()[:n]
}

// hanging is a project whose executor works until it may go on.
func hanging(t *testing.T) *world {
	return newProject(t, conducted+often, plans{"executor": "wait_for_task until:go submit", "reviewer": approves})
}

// finished lets the executor go on, and the task is complete.
func (w *world) finished(c *conducting) {
	w.t.Helper()
	w.write(w.side+"/go", "go")
	if code := c.over(w.t); code != 0 || w.state() != state.Complete {
		w.t.Errorf("exit code %d in %s:\n%s", code, w.state(), c.out)
	}
	w.deserted()
}

func TestAKilledExecutorIsReplaced(t *testing.T) {
	t.Parallel()
	w := hanging(t)
	agent := func(process.Occupant) { ids := w.numbers("starts"); w.kill(ids[len(ids)-1]) }
	for i, r := range w.deaths("agent", agent) {
		if r.Signal != "SIGKILL" || r.Cut || r.Stopped || r.Error != "" {
			t.Errorf("run %d: %+v", i, r)
		}
	}
}

func TestAnExecutorWhoseShimIsKilledIsReplaced(t *testing.T) {
	t.Parallel()
	w := hanging(t)
	for i, r := range w.deaths("shim", func(o process.Occupant) { w.kill(o.Shim) }) {
		if r.Error == "" || !r.Over() {
			t.Errorf("run %d: %+v", i, r)
		}
	}
}

// completes runs the conductor, and holds that it completes the task with the agents that are wanted and leaves nobody
// behind.
func (w *world) completes(want string, change ...func(*conductor.Options)) conductor.Outcome {
	w.t.Helper()
	out := w.run(change...)
	if got := w.started(); out.Exit != 0 || got != want {
		w.t.Errorf("exit code %d after %s: %+v", out.Exit, got, out.Runs)
	}
	w.deserted()
	return out
}

// outlasted lets the conductor's clock run ahead, by more than an executor may be without the claim, from the fact that one is hopeless
// until it is ended. The next one has all the time it needs. It returns what was told of the end.
func outlasted(hopeless func() bool, ending *string) func(*conductor.Options) {
	return func(o *conductor.Options) {
		o.Patience.Idling = 40 * time.Second // less than what looks like a machine that slept
		o.Now = func() time.Time {
			now := time.Now()
			if *ending == "" && hopeless() {
				now = now.Add(o.Patience.Idling + time.Second)
			}
			return now
		}
		o.Tell = func(ev conductor.Event) {
			if ev.Kind == conductor.Ending {
				*ending += ev.Run + ": " + ev.Text + "\n"
			}
		}
	}
}

// TestAnExecutorWithoutItsServerIsReplaced: it lives, but can do nothing more for the task.
func TestAnExecutorWithoutItsServerIsReplaced(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task hang\nwait_for_task submit", "reviewer": approves})
	var killed atomic.Bool
	go func() {
		kit.Eventually(t, "the executor has the work", func() bool { return strings.Count(w.text(w.side+"/claims"), "\n") == 1 })
		w.kill(w.numbers("servers")[0])
		killed.Store(true)
	}()
	var ending string
	out := w.completes("executor 2, reviewer 1", outlasted(killed.Load, &ending))
	if !out.Runs[0].Cut {
		t.Errorf("the conductor has not ended it: %+v", out.Runs)
	}
}

// TestAnExecutorThatNeverClaimsIsReplaced: it holds the slot, and nobody the work.
func TestAnExecutorThatNeverClaimsIsReplaced(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "hang\nwait_for_task submit", "reviewer": approves})
	var ending string
	w.completes("executor 2, reviewer 1", outlasted(func() bool { return w.started() != "" }, &ending))
	if !strings.HasPrefix(ending, "executor-1: it has been without the claim") {
		t.Error(ending)
	}
}

// TestAnExecutorThatDoesNotLeaveIsEnded: its work is submitted, and the slot is needed when it comes back.
func TestAnExecutorThatDoesNotLeaveIsEnded(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task submit hang\nwait_for_task submit", "reviewer": "review_pending until:go reject\n" + approves})
	go func() {
		kit.Eventually(t, "the executor is ended", func() bool { list := w.runs(); return len(list) > 1 && list[0].Over() })
		w.write(w.side+"/go", "go")
	}()
	out := w.completes("executor 2, reviewer 2", func(o *conductor.Options) { o.Patience.Parting = 200 * time.Millisecond })
	if !out.Runs[0].Stopped {
		t.Errorf("it was not ended without blame: %+v", out.Runs)
	}
}

// TestAnExecutorMayWaitForItsConsultation for as long as the supervisor needs: it knows what it asked for.
func TestAnExecutorMayWaitForItsConsultation(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": loop["executor"], "consultant": "wait_for_review until:go respond_consult", "reviewer": approves})
	over := make(chan conductor.Outcome)
	parting := 100 * time.Millisecond
	go func() { over <- w.run(func(o *conductor.Options) { o.Patience.Parting = parting }) }()
	kit.Eventually(t, "the consultant is asked", func() bool { return strings.Contains(w.started(), "consultant") })
	time.Sleep(5 * parting) // longer than any other agent is given
	w.write(w.side+"/go", "go")
	if out := <-over; out.Exit != 0 || w.started() != "consultant 1, executor 1, reviewer 1" {
		t.Errorf("exit code %d after %s: %+v", out.Exit, w.started(), out.Runs)
	}
	w.deserted()
}

// TestReviewersAndConsultantsMayDieToo: each is started again and its duty is done.
func TestReviewersAndConsultantsMayDieToo(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": loop["executor"], "consultant": "exit:1\nwait_for_review exit:3\nwait_for_review respond_consult",
		"reviewer": "review_pending exit:1\n" + approves})
	w.completes("consultant 3, executor 1, reviewer 2")
}

// TestAgentsThatLiveAreFound: a conductor that comes after them starts no others.
func TestAgentsThatLiveAreFound(t *testing.T) {
	t.Parallel()
	w := hanging(t)
	c := w.conductor()
	first := w.claims(1)
	w.kill(c.Process.Pid)
	<-c.done
	next := w.conductor()
	found := fmt.Sprintf(`"kind":"found","duty":"executor","agent":"command","run":%q`, first.Run)
	kit.Eventually(t, "the next one finds the executor", func() bool { return strings.Contains(next.out.String(), found) })
	w.finished(next)
	if w.started() != "executor 1, reviewer 1" {
		t.Errorf("%s\n%s", w.started(), next.out)
	}
}

// TestWhoIsNotOursIsLeftToWork: a person's own executor holds the work, so none is started until it dies.
func TestWhoIsNotOursIsLeftToWork(t *testing.T) {
	t.Parallel()
	w := newProject(t, conducted, plans{"executor": "wait_for_task submit", "reviewer": approves})
	own := w.start(state.Executor, "codex")
	own.claim()
	c := w.conductor()
	kit.Eventually(t, "it is conducted", func() bool { _, busy := conductor.Conductor(w.path(".ferrus")); return busy })
	own.call("progress", args{"note": "Half done."}) // which watchers notice
	if got := w.started(); got != "" {
		t.Fatalf("beside the holder: %s", got)
	}
	began := time.Now()
	own.Kill()
	kit.Eventually(t, "the successor claims", func() bool { return w.text(w.side+"/claims") != "" })
	t.Logf("from the death of a stranger to the successor's claim: %v", time.Since(began).Round(time.Millisecond))
	if code := c.over(t); code != 0 || w.started() != "executor 1, reviewer 1" {
		t.Errorf("exit code %d after %s", code, w.started())
	}
	if _, err := os.Stat(filepath.Join(w.dir, ".ferrus/live/notified")); err == nil {
		t.Error("somebody was notified, though nobody wants to be")
	}
	w.deserted()
}
