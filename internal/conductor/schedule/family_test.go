//go:build unix

package schedule

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

const limits = "[limits]\nmax_delegates = 4\nmax_executor_dispatches = 3\n"

// three is a task with two parts that succeed, one after two deaths and one after a rejection, and one that fails.
const three = "parts: write a.txt die 2; write b.txt badly; fail"

// whole compares the end of the task with what it should be, whichever process was killed on the way.
func (y *yard) whole() {
	y.t.Helper()
	t := y.task("")
	if t.State != state.Complete || text(y.dir, "a.txt") != "well\n" || text(y.dir, "b.txt") != "well\n" {
		y.t.Errorf("%s: a %q, b %q; %+v\n%s", t.State, text(y.dir, "a.txt"), text(y.dir, "b.txt"), t.Delegates, text(y.side, "log"))
	}
	var ends []string
	for _, d := range t.Delegates {
		ends = append(ends, string(d.Ended))
		n := y.counts(d.Branch)
		if n[state.CreateTask] != 1 || d.Ended == state.DelegateComplete && n[state.Approve] != 1 {
			y.t.Errorf("%s: %v", d.ID, n)
		}
	}
	if got := strings.Join(ends, " "); got != "complete complete failed" {
		y.t.Errorf("the delegates have ended %s", got)
	}
	n := y.counts("")
	if n[state.DelegateStarted] != 3 || n[state.DelegateDone] != 3 || n[state.DelegateMerged] != 2 || n[state.Submit] != 1 {
		y.t.Errorf("%v", n)
	}
	if log := text(y.side, "log"); strings.Count(log, "reviewer") != strings.Count(log, "reviewer \n") {
		y.t.Errorf("a delegate had a reviewer of its own:\n%s", log)
	}
}

// TestAFamilyWorks: two delegates at a time, one that is killed twice and one that is rejected once, and one that fails; then
// the whole is submitted and approved. F29.
func TestAFamilyWorks(t *testing.T) {
	t.Parallel()
	y := newFamily(t, limits, three)
	e := y.on("").Engine()
	opts, shown, told := taskOptions(e), 0, sync.Map{}
	opts.Show = func(v conductor.View) {
		if shown++; v.Task.TaskID == "" {
			t.Errorf("shown is %+v", v)
		}
	}
	opts.TellOf = func(branch string, _ conductor.Event) { told.Store(branch, true) }
	out, err := RunTask(t.Context(), e, opts)
	must(t, err)
	if out.Exit != 0 || shown == 0 {
		t.Errorf("exit %d, shown %d times", out.Exit, shown)
	}
	for _, d := range y.task("").Delegates {
		if _, ok := told.Load(d.Branch); !ok {
			t.Errorf("nothing is told of %s", d.Branch)
		}
	}
	y.whole()
}

// TestDelegatesWorkAtTheSameTime.
func TestDelegatesWorkAtTheSameTime(t *testing.T) {
	t.Parallel()
	y := newFamily(t, limits, "parts: write a.txt; write b.txt")
	y.say("hold-write")
	family := y.start("family")
	defer ends(t, family)
	kit.Eventually(t, "two are at work", func() bool { return strings.Count(text(y.side, "log"), "executor d") == 2 })
}

// TestTheEndOfATaskEndsTheAgentsOfItsDelegates: a person resets the task, or rolls it back to before its delegates, while two of
// them are at work. Their agents end and nobody starts others; after the rollback the work is done from there. S2-09.
func TestTheEndOfATaskEndsTheAgentsOfItsDelegates(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(y *yard, s *engine.Session) error{
		"reset": func(y *yard, s *engine.Session) error {
			was := y.task("")
			_, err := s.Reset(y.t.Context(), "enough")
			return errors.Join(err, EndAll(y.t.Context(), s.Engine(), was))
		},
		"rollback": func(y *yard, s *engine.Session) error {
			_, err := delegate.Rollback(y.t.Context(), s, 2, "in another way", true, func() error { return EndAll(y.t.Context(), s.Engine()) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newFamily(t, limits, "parts: write a.txt; write b.txt")
			y.say("hold-write")
			first := y.start("family")
			kit.Eventually(t, "two are at work", func() bool { return strings.Count(text(y.side, "log"), "executor d") == 2 })
			delegates := y.task("").Delegates
			if name == "rollback" { // the run would go on with the task
				ends(t, first)
			}
			must(t, do(y, y.on("")))
			if name == "reset" {
				_ = first.Wait()
			}
			for _, d := range delegates {
				if o, taken := process.Path(project.At(y.dir, d.Branch).Dir(), d.Branch, string(agents.Executor)).Taken(); taken {
					t.Errorf("%s is at work yet: %+v", d.ID, o)
				}
			}
			must(t, os.Remove(filepath.Join(y.side, "hold-write")))
			out, err := y.runTask(t.Context())
			must(t, err)
			a, b := text(y.dir, "a.txt"), text(y.dir, "b.txt")
			switch {
			case name == "reset" && (y.task("").State != state.Idle || a+b != "" || strings.Count(text(y.side, "log"), "executor d") != 2):
				t.Errorf("%s: a %q, b %q\n%s", y.task("").State, a, b, text(y.side, "log"))
			case name == "rollback" && (out.Exit != 0 || y.task("").State != state.Complete || a+b != "well\nwell\n"):
				t.Errorf("exit %d, %s: a %q, b %q\n%s", out.Exit, y.task("").State, a, b, text(y.side, "log"))
			}
		})
	}
}

// TestAKilledFamilyGoesOn: whenever its conductor is killed, or the executor that delegates, the next one comes to the same end,
// and nobody works twice.
func TestAKilledFamilyGoesOn(t *testing.T) {
	t.Parallel()
	points := []state.Event{state.DelegateStarted, state.DelegateDecided, state.DelegateMergeStarted, state.DelegateMerged, state.DelegateDone, state.Submit}
	for i, at := range points {
		if !kit.Sampled(9, i) {
			continue
		}
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			y := newFamily(t, limits, three)
			first := y.start("family")
			kit.Eventually(t, string(at), func() bool { return y.counts("")[at] > 0 })
			ends(t, first)
			out, err := y.runTask(t.Context())
			must(t, err)
			if out.Exit != 0 {
				t.Errorf("exit %d", out.Exit)
			}
			y.whole()
		})
	}
}

// TestAFamilyKilledAtEveryLine: the conductor, and every second time the executor that delegates with it, are killed when so many
// lines stand in all journals together.
func TestAFamilyKilledAtEveryLine(t *testing.T) {
	kit.Long(t, "of kills at an event: TestAKilledFamilyGoesOn")
	t.Parallel()
	points := []int{26, 12}
	if kit.Full() {
		points = nil
		for n := 1; n < 64; n++ {
			points = append(points, n)
		}
	}
	bad := 0
	for _, at := range points {
		if !t.Run(strconv.Itoa(at), func(t *testing.T) {
			y := newFamily(t, limits, three)
			first := y.start("family")
			kit.Eventually(t, "so many lines", func() bool { return y.lines() >= at || y.task("").State == state.Complete })
			ends(t, first)
			if at%2 == 0 {
				must(t, conductor.Slot(y.on("").Engine(), agents.Executor).Stop(t.Context()))
			}
			out, err := y.runTask(t.Context())
			must(t, err)
			if out.Exit != 0 && out.Exit != 3 {
				t.Errorf("exit %d", out.Exit)
			}
			y.whole()
		}) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d", len(points), bad)
}

// lines is how many lines stand in the journals of the task and its delegates.
func (y *yard) lines() int {
	y.t.Helper()
	t := y.task("")
	n := int(t.Seq)
	for _, d := range t.Delegates {
		if project.At(y.dir, d.Branch).Initialised() {
			n += int(y.task(d.Branch).Seq)
		}
	}
	return n
}
