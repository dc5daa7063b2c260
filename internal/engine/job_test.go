//go:build unix

package engine

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/checks"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
)

// slow makes a project whose check says that it runs, waits to be let go, and is red.
func slow(t testing.TB) *machine {
	p := repository(t, "")
	p.write("ferrus.toml", gate("echo run >> '"+p.side+"/runs'; until test -e '"+p.side+"/go'; do sleep 0.01; done; test -e green"))
	return p
}

func (p *machine) runs() int {
	data, _ := os.ReadFile(p.path(p.side + "/runs"))
	return strings.Count(string(data), "\n")
}

func (p *machine) letGo() { p.write(p.side+"/go", "") }

func TestAClientThatGivesUpFindsItsCheckAgain(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.begun()
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := ex.Check(ctx, patience)
		ended <- err
	}()
	eventually(t, "the check runs", func() bool { return p.runs() == 1 })
	giveUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the call that was given up: %v", err)
	}
	if out := must(ex.Check(t.Context(), brief))(t); out.ID != "k1" || out.Status != state.CheckRunning {
		t.Fatalf("joined %q", out.ID)
	}
	refused(t, second(ex.Consult(t.Context(), Consulting{Problem: "p", Tried: "t", Question: "q"})), refusal.CheckRunning, "k1 is running")
	refused(t, second(ex.AskHuman(t.Context(), "May I?", nil)), refusal.CheckRunning)
	must(ex.Progress(t.Context(), "Waiting."))(t)
	both := make(chan Checked, 2)
	for range 2 {
		go func() {
			out, err := ex.Check(t.Context(), patience)
			if err != nil {
				t.Error(err)
			}
			both <- out
		}()
	}
	p.letGo()
	for range 2 {
		if out := <-both; out.ID != "k1" || out.Status != state.CheckRed || out.Task.CheckRetries != 1 || len(out.Failures) != 1 {
			t.Errorf("got %s %s, %d retries", out.ID, out.Status, out.Task.CheckRetries)
		}
	}
	if p.runs() != 1 || count(t, ex.e, state.CheckFailed) != 1 {
		t.Errorf("%d runs, %d counted", p.runs(), count(t, ex.e, state.CheckFailed))
	}
	if out := check(t, ex, state.CheckRed); out.ID != "k2" || out.Task.CheckRetries != 2 {
		t.Errorf("once told, a check is a new one: %s, %d retries", out.ID, out.Task.CheckRetries)
	}
}

func TestAnOutcomeThatNobodyWaitedForIsHandedOutFirst(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"check", "submit"} {
		t.Run(tool, func(t *testing.T) {
			p := slow(t)
			_, ex := p.begun()
			if out := must(ex.Check(t.Context(), 0))(t); out.Status != state.CheckRunning {
				t.Fatalf("it ended %s", out.Status)
			}
			p.letGo()
			eventually(t, "the outcome is committed", func() bool { return view(t, ex).Task.State == state.Addressing })
			p.write("green", "")
			out, err := Checked{}, error(nil)
			if tool == "check" {
				out, err = ex.Check(t.Context(), patience)
			} else {
				var sub Submitted
				sub, err = ex.Submit(t.Context(), work, patience)
				out = sub.Gate
			}
			if err != nil || out.ID != "k1" || out.Status != state.CheckRed || p.runs() != 1 {
				t.Fatalf("got %s %s (%v) after %d runs", out.ID, out.Status, err, p.runs())
			}
			submitted(t, ex)
		})
	}
}

// TestACallThatLookedBeforeACheckEndedGetsItsOutcome: it begins no other, which would void a green one.
func TestACallThatLookedBeforeACheckEndedGetsItsOutcome(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	before := view(t, ex)
	if j := ex.e.jobFor(ex, before); <-j.done == struct{}{} && (!ex.untold(before) || ex.e.jobFor(ex, before) != j) {
		t.Error("another check is begun")
	}
	if out := check(t, ex, state.CheckGreen); out.ID != "k1" {
		t.Errorf("check %s", out.ID)
	}
}

// TestACallThatWasGivenUpTakesNoOutcome: the next one gets it, and no other check runs.
func TestACallThatWasGivenUpTakesNoOutcome(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("false"))
	_, ex := p.begun()
	<-ex.e.jobFor(ex, view(t, ex)).done
	over, giveUp := context.WithCancel(t.Context())
	giveUp()
	for range 64 { // where an answer and the end of its call come together, either may be seen first
		if _, err := ex.Check(over, patience); !errors.Is(err, context.Canceled) {
			t.Fatalf("a call that was given up: %v", err)
		}
	}
	if out := check(t, ex, state.CheckRed); out.ID != "k1" || out.Task.CheckRetries != 1 {
		t.Errorf("check %s, %d retries", out.ID, out.Task.CheckRetries)
	}
}

// TestASubmissionWhoseGateOutlivesTheCallIsMadeByCallingAgain, at once.
func TestASubmissionWhoseGateOutlivesTheCallIsMadeByCallingAgain(t *testing.T) {
	t.Parallel()
	p := slow(t)
	p.write("green", "")
	_, ex := p.begun()
	if out := must(ex.Submit(t.Context(), work, brief))(t); out.Accepted || out.Gate.Status != state.CheckRunning {
		t.Fatalf("accepted %v, gate %s", out.Accepted, out.Gate.Status)
	}
	p.letGo()
	eventually(t, "the check is green", func() bool { return view(t, ex).Task.State == state.Checking })
	submitted(t, ex)
	if p.runs() != 1 {
		t.Errorf("the gate ran %d times", p.runs())
	}
	again := must(ex.Submit(t.Context(), work, patience))(t)
	if !again.Accepted || !again.Repeated || again.Task.Submission.ID != "s1" {
		t.Errorf("submitted again: %+v", again.Done.Repeated)
	}
}

// endless makes a project whose check never ends, and says under which process group it runs.
func endless(t testing.TB) *machine {
	p := repository(t, "")
	p.write("ferrus.toml", gate("echo $$ > '"+p.side+"/tmp'; mv '"+p.side+"/tmp' '"+p.side+"/pid'; sleep 1000 & sleep 1000"))
	return p
}

// running waits for the check, and returns a function that says whether anything of it is left.
func (p *machine) running() (left func() bool) {
	p.t.Helper()
	eventually(p.t, "the check runs", func() bool { return p.exists(p.side + "/pid") })
	pid, err := strconv.Atoi(strings.TrimSpace(p.read(p.side + "/pid")))
	if err != nil {
		p.t.Fatal(err)
	}
	p.remove(p.side + "/pid")
	return proc.Tree(pid).Alive
}

// F02, S1-15.
func TestACheckEndsWithItsTaskOrItsEpoch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   func(p *machine, h *Session)
		state state.State
		words string
	}{
		"reset":     {func(p *machine, h *Session) { must(h.Reset(p.t.Context(), ""))(p.t) }, state.Idle, "a person reset the task at "},
		"release":   {func(p *machine, h *Session) { must(h.Release(p.t.Context(), ""))(p.t) }, state.Executing, "a person released the work at "},
		"successor": {func(p *machine, h *Session) { must(h.Release(p.t.Context(), ""))(p.t); claim(p.t, p.executor("qwen")) }, state.Executing, ". Stop, and do not edit further"},
	} {
		t.Run(name, func(t *testing.T) {
			p := endless(t)
			_, ex := p.begun()
			ended := make(chan error, 1)
			go func() {
				_, err := ex.Check(t.Context(), patience)
				ended <- err
			}()
			left := p.running()
			c.end(p, p.human())
			refused(t, <-ended, refusal.LeaseLost, c.words)
			if left() {
				t.Error("processes of the check are left when its call returns")
			}
			snap := wantState(t, ex, c.state)
			if n := count(t, ex.e, state.CheckStarted); n != 1 || snap.Task.CheckRetries != 0 || snap.Top.Event == state.CheckVoid {
				t.Errorf("the check that was given up left traces: %s", snap.Top.Event)
			}
		})
	}
}

// TestAResultThatComesTooLateCountsForNothing, when the commands end in the moment in which the task does.
func TestAResultThatComesTooLateCountsForNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *machine, h *Session){
		"reset":   func(p *machine, h *Session) { must(h.Reset(p.t.Context(), ""))(p.t) },
		"release": func(p *machine, h *Session) { must(h.Release(p.t.Context(), ""))(p.t) },
		"next task": func(p *machine, h *Session) {
			must(h.Reset(p.t.Context(), ""))(p.t)
			must(p.supervisor().CreateTask(p.t.Context(), "Another.", ""))(p.t)
			claim(p.t, p.executor("qwen"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := repository(t, gate("false"))
			_, ex := p.begun()
			j := &job{session: ex, done: make(chan struct{})}
			began := must(j.begin(t.Context()))(t)
			res := must(j.execute(t.Context(), began))(t)
			end(p, p.human())
			same := unchanged(t, ex)
			_, err := j.settle(t.Context(), began, res)
			refused(t, err, refusal.LeaseLost)
			same()
		})
	}
}

func TestALostRunIsNotContinued(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	j := &job{session: ex, done: make(chan struct{})}
	must(j.begin(t.Context()))(t) // and nothing comes of it: the disk refused its end, say
	p.write("code.txt", "two\n")
	if out := check(t, ex, state.CheckGreen); out.ID != "k2" {
		t.Errorf("check %s", out.ID)
	}
}

func TestAHolderWhoComesBackDoesNotJoinTheCheckOfAnEpochThatIsOver(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	stuck := &job{session: ex, task: view(t, ex).Task.TaskID, epoch: view(t, ex).Task.Epoch, done: make(chan struct{}), cancel: func() {}}
	ex.e.job = stuck
	must(p.human().Release(t.Context(), ""))(t)
	claim(t, ex)
	check(t, ex, state.CheckGreen)
}

func TestASuccessorIsToldOfAnAbandonedCheckAndRunsItsOwn(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.begun()
	must(ex.Check(t.Context(), 0))(t)
	eventually(t, "the check runs", func() bool { return p.runs() == 1 })
	dies(t, ex)
	onlooker := p.human()
	st := must(onlooker.e.Status())(t)
	if st.Task.Check.Status != state.CheckAbandoned || st.Waiting.For != "executor" || st.Holder != "its process has ended" {
		t.Errorf("status says check %s, waits for %s, holder: %s", st.Task.Check.Status, st.Waiting.For, st.Holder)
	}
	next := p.executor("codex")
	got := claim(t, next)
	if last := got.Packet.LastCheck; last == nil || last.Status != state.CheckAbandoned || last.ID != "k1" {
		t.Errorf("the successor is told %+v", last)
	}
	if got.Stale != "" {
		t.Errorf("a process that has ended is said to edit still: %q", got.Stale)
	}
	p.letGo()
	if out := check(t, next, state.CheckRed); out.ID != "k2" || out.Task.CheckRetries != 1 {
		t.Errorf("%s, %d retries", out.ID, out.Task.CheckRetries)
	}
}

func TestARunningCheckIsWaitedForByName(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.begun()
	must(ex.Check(t.Context(), 0))(t)
	eventually(t, "the check runs", func() bool { return p.runs() == 1 })
	if st := must(p.human().e.Status())(t); st.Waiting.For != "check" || st.Task.Check.Status != state.CheckRunning {
		t.Errorf("waits for %s, check %s", st.Waiting.For, st.Task.Check.Status)
	}
	p.letGo()
	check(t, ex, state.CheckRed)
}

// TestACheckWaitsForThatOfAHungServer: while the check of an earlier holder, whose server hangs, still runs in the work
// tree, the successor's waits; when it has to give up, that says nothing about the work and spends nothing.
func TestACheckWaitsForThatOfAHungServer(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("test -e code.txt"))
	_, ex := p.begun()
	hung, err := checks.Start(checks.Spec{Dir: p.dir, Commands: []string{"until test -e '" + p.side + "/go'; do sleep 0.01; done"},
		Log: p.side + "/log", Lock: p.path(".ferrus/live/check.lock")})
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Stop()
	if out := must(ex.Check(t.Context(), brief))(t); out.Status != state.CheckRunning || out.ID != "" {
		t.Fatalf("beside another check ours is %s %s", out.ID, out.Status)
	}
	p.letGo()
	out := must(ex.Check(t.Context(), patience))(t)
	if out.Status != state.CheckGreen || out.ID != "k1" || out.Task.Check.Errors != 0 {
		t.Fatalf("after it ours is %s %s with %d errors", out.ID, out.Status, out.Task.Check.Errors)
	}
}
