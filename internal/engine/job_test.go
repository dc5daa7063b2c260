//go:build unix

package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// slow makes a project whose check says that it runs, waits to be let go, and is red.
func slow(t testing.TB) *enginetest.Machine {
	p := enginetest.Repository(t, "")
	p.Write("ferrus.toml", enginetest.Gate("echo run >> '"+p.Side+"/runs'; until test -e '"+p.Side+"/go'; do sleep 0.01; done; test -e green"))
	return p
}

// An awaited context tells when a call waits for its end: a call of Check has joined its run by then.
type awaited struct {
	context.Context
	waits chan struct{} // closed when somebody waits
	once  *sync.Once
}

func newAwaited(ctx context.Context) awaited {
	return awaited{ctx, make(chan struct{}), new(sync.Once)}
}

func (a awaited) Done() <-chan struct{} {
	a.once.Do(func() { close(a.waits) })
	return a.Context.Done()
}

func TestAClientThatGivesUpFindsItsCheckAgain(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.Begun()
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := ex.Check(ctx, kit.Patience)
		ended <- err
	}()
	kit.Eventually(t, "the check runs", func() bool { return p.Runs() == 1 })
	giveUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the call that was given up: %v", err)
	}
	if out := enginetest.Must(ex.Check(t.Context(), enginetest.Brief))(t); out.ID != "k1" || out.Status != state.CheckRunning {
		t.Fatalf("joined %q", out.ID)
	}
	enginetest.Refused(t, enginetest.Second(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"})), refusal.CheckRunning, "k1 is running")
	enginetest.Refused(t, enginetest.Second(ex.AskHuman(t.Context(), "May I?", nil)), refusal.CheckRunning)
	enginetest.Must(ex.Progress(t.Context(), "Waiting."))(t)
	both := make(chan engine.Checked, 2)
	for range 2 {
		joined := newAwaited(t.Context())
		go func() {
			defer joined.Done() // a call that is refused does not wait
			out, err := ex.Check(joined, kit.Patience)
			if err != nil {
				t.Error(err)
			}
			both <- out
		}()
		<-joined.waits
	}
	p.LetGo()
	for range 2 {
		if out := <-both; out.ID != "k1" || out.Status != state.CheckRed || out.Task.CheckRetries != 1 || len(out.Failures) != 1 {
			t.Errorf("got %s %s, %d retries", out.ID, out.Status, out.Task.CheckRetries)
		}
	}
	if p.Runs() != 1 || enginetest.Count(t, ex.Engine(), state.CheckFailed) != 1 {
		t.Errorf("%d runs, %d counted", p.Runs(), enginetest.Count(t, ex.Engine(), state.CheckFailed))
	}
	if out := enginetest.Check(t, ex, state.CheckRed); out.ID != "k2" || out.Task.CheckRetries != 2 {
		t.Errorf("once told, a check is a new one: %s, %d retries", out.ID, out.Task.CheckRetries)
	}
}

func TestAnOutcomeThatNobodyWaitedForIsHandedOutFirst(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"check", "submit"} {
		t.Run(tool, func(t *testing.T) {
			p := slow(t)
			_, ex := p.Begun()
			if out := enginetest.Must(ex.Check(t.Context(), 0))(t); out.Status != state.CheckRunning {
				t.Fatalf("it ended %s", out.Status)
			}
			p.LetGo()
			kit.Eventually(t, "the outcome is committed", func() bool { return enginetest.View(t, ex).Task.State == state.Addressing })
			p.Write("green", "")
			out, err := engine.Checked{}, error(nil)
			if tool == "check" {
				out, err = ex.Check(t.Context(), kit.Patience)
			} else {
				var sub engine.Submitted
				sub, err = ex.Submit(t.Context(), enginetest.Work, kit.Patience)
				out = sub.Gate
			}
			if err != nil || out.ID != "k1" || out.Status != state.CheckRed || p.Runs() != 1 {
				t.Fatalf("got %s %s (%v) after %d runs", out.ID, out.Status, err, p.Runs())
			}
			enginetest.Submitted(t, ex)
		})
	}
}

// TestACallThatLookedBeforeACheckEndedGetsItsOutcome: it begins no other, which would void a green one.
func TestACallThatLookedBeforeACheckEndedGetsItsOutcome(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	before := enginetest.View(t, ex)
	if j := ex.Engine().JobFor(ex, before); <-j.Done() == struct{}{} && (!ex.Untold(before) || ex.Engine().JobFor(ex, before) != j) {
		t.Error("another check is begun")
	}
	if out := enginetest.Check(t, ex, state.CheckGreen); out.ID != "k1" {
		t.Errorf("check %s", out.ID)
	}
}

// TestACallThatWasGivenUpTakesNoOutcome: the next one gets it, and no other check runs.
func TestACallThatWasGivenUpTakesNoOutcome(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("false"))
	_, ex := p.Begun()
	<-ex.Engine().JobFor(ex, enginetest.View(t, ex)).Done()
	over, giveUp := context.WithCancel(t.Context())
	giveUp()
	for range 64 { // where an answer and the end of its call come together, either may be seen first
		if _, err := ex.Check(over, kit.Patience); !errors.Is(err, context.Canceled) {
			t.Fatalf("a call that was given up: %v", err)
		}
	}
	if out := enginetest.Check(t, ex, state.CheckRed); out.ID != "k1" || out.Task.CheckRetries != 1 {
		t.Errorf("check %s, %d retries", out.ID, out.Task.CheckRetries)
	}
}

// TestASubmissionWhoseGateOutlivesTheCallIsMadeByCallingAgain, at once.
func TestASubmissionWhoseGateOutlivesTheCallIsMadeByCallingAgain(t *testing.T) {
	t.Parallel()
	p := slow(t)
	p.Write("green", "")
	_, ex := p.Begun()
	if out := enginetest.Must(ex.Submit(t.Context(), enginetest.Work, enginetest.Brief))(t); out.Accepted || out.Gate.Status != state.CheckRunning {
		t.Fatalf("accepted %v, gate %s", out.Accepted, out.Gate.Status)
	}
	p.LetGo()
	kit.Eventually(t, "the check is green", func() bool { return enginetest.View(t, ex).Task.State == state.Checking })
	enginetest.Submitted(t, ex)
	if p.Runs() != 1 {
		t.Errorf("the gate ran %d times", p.Runs())
	}
	again := enginetest.Must(ex.Submit(t.Context(), enginetest.Work, kit.Patience))(t)
	if !again.Accepted || !again.Repeated || again.Task.Submission.ID != "s1" {
		t.Errorf("submitted again: %+v", again.Done.Repeated)
	}
}

// endless makes a project whose check never ends, and says under which process group it runs.
func endless(t testing.TB) *enginetest.Machine {
	p := enginetest.Repository(t, "")
	p.Write("ferrus.toml", enginetest.Gate("echo $$ > '"+p.Side+"/tmp'; mv '"+p.Side+"/tmp' '"+p.Side+"/pid'; sleep 1000 & sleep 1000"))
	return p
}

// F02, S1-15.
func TestACheckEndsWithItsTaskOrItsEpoch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   func(p *enginetest.Machine, h *engine.Session)
		state state.State
		words string
	}{
		"reset":   {func(p *enginetest.Machine, h *engine.Session) { enginetest.Must(h.Reset(p.T.Context(), ""))(p.T) }, state.Idle, "a person reset the task at "},
		"release": {func(p *enginetest.Machine, h *engine.Session) { enginetest.Must(h.Release(p.T.Context(), ""))(p.T) }, state.Executing, "a person released the work at "},
		"successor": {func(p *enginetest.Machine, h *engine.Session) {
			enginetest.Must(h.Release(p.T.Context(), ""))(p.T)
			enginetest.Claim(p.T, p.Executor("qwen"))
		}, state.Executing, ". Stop, and do not edit further"},
	} {
		t.Run(name, func(t *testing.T) {
			p := endless(t)
			_, ex := p.Begun()
			ended := make(chan error, 1)
			go func() {
				_, err := ex.Check(t.Context(), kit.Patience)
				ended <- err
			}()
			left := p.Running()
			c.end(p, p.Human())
			enginetest.Refused(t, <-ended, refusal.LeaseLost, c.words)
			if left() {
				t.Error("processes of the check are left when its call returns")
			}
			snap := enginetest.WantState(t, ex, c.state)
			if n := enginetest.Count(t, ex.Engine(), state.CheckStarted); n != 1 || snap.Task.CheckRetries != 0 || snap.Top.Event == state.CheckVoid {
				t.Errorf("the check that was given up left traces: %s", snap.Top.Event)
			}
		})
	}
}

// TestAResultThatComesTooLateCountsForNothing, when the commands end in the moment in which the task does.
func TestAResultThatComesTooLateCountsForNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *enginetest.Machine, h *engine.Session){
		"reset":   func(p *enginetest.Machine, h *engine.Session) { enginetest.Must(h.Reset(p.T.Context(), ""))(p.T) },
		"release": func(p *enginetest.Machine, h *engine.Session) { enginetest.Must(h.Release(p.T.Context(), ""))(p.T) },
		"next task": func(p *enginetest.Machine, h *engine.Session) {
			enginetest.Must(h.Reset(p.T.Context(), ""))(p.T)
			enginetest.Must(p.Supervisor().CreateTask(p.T.Context(), "Another.", ""))(p.T)
			enginetest.Claim(p.T, p.Executor("qwen"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Repository(t, enginetest.Gate("false"))
			_, ex := p.Begun()
			j := engine.NewJob(ex, state.Task{})
			began := enginetest.Must(j.Begin(t.Context()))(t)
			res := enginetest.Must(j.Execute(t.Context(), began))(t)
			end(p, p.Human())
			same := enginetest.Unchanged(t, ex)
			_, err := j.Settle(t.Context(), began, res)
			enginetest.Refused(t, err, refusal.LeaseLost)
			same()
		})
	}
}

func TestALostRunIsNotContinued(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	j := engine.NewJob(ex, state.Task{})
	enginetest.Must(j.Begin(t.Context()))(t) // and nothing comes of it: the disk refused its end, say
	p.Write("code.txt", "two\n")
	if out := enginetest.Check(t, ex, state.CheckGreen); out.ID != "k2" {
		t.Errorf("check %s", out.ID)
	}
}

func TestAHolderWhoComesBackDoesNotJoinTheCheckOfAnEpochThatIsOver(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	stuck := engine.NewJob(ex, enginetest.View(t, ex).Task)
	ex.Engine().SetJob(stuck)
	enginetest.Must(p.Human().Release(t.Context(), ""))(t)
	enginetest.Claim(t, ex)
	enginetest.Check(t, ex, state.CheckGreen)
}

func TestASuccessorIsToldOfAnAbandonedCheckAndRunsItsOwn(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.Begun()
	enginetest.Must(ex.Check(t.Context(), 0))(t)
	kit.Eventually(t, "the check runs", func() bool { return p.Runs() == 1 })
	enginetest.Dies(t, ex)
	onlooker := p.Human()
	st := enginetest.Must(onlooker.Engine().Status())(t)
	if st.Task.Check.Status != state.CheckAbandoned || st.Waiting.For != "executor" || st.Holder != "its process has ended" {
		t.Errorf("status says check %s, waits for %s, holder: %s", st.Task.Check.Status, st.Waiting.For, st.Holder)
	}
	next := p.Executor("codex")
	got := enginetest.Claim(t, next)
	if last := got.Packet.LastCheck; last == nil || last.Status != state.CheckAbandoned || last.ID != "k1" {
		t.Errorf("the successor gets %+v", last)
	}
	if got.Stale != "" {
		t.Errorf("a process that has ended is said to edit still: %q", got.Stale)
	}
	p.LetGo()
	if out := enginetest.Check(t, next, state.CheckRed); out.ID != "k2" || out.Task.CheckRetries != 1 {
		t.Errorf("%s, %d retries", out.ID, out.Task.CheckRetries)
	}
}

// TestAPersonIsAskedThoughACheckWasAbandoned: ferrus starts no more executors, say, and none will take the claim over.
func TestAPersonIsAskedThoughACheckWasAbandoned(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.Begun()
	enginetest.Must(ex.Check(t.Context(), 0))(t)
	kit.Eventually(t, "the check runs", func() bool { return p.Runs() == 1 })
	e := p.Human().Engine()
	ask := func() error {
		_, err := e.AskAbout(t.Context(), enginetest.View(t, p.Human()), checkrun.Question{Text: "Shall ferrus try again?"})
		return err
	}
	enginetest.Refused(t, ask(), refusal.CheckRunning)
	enginetest.Dies(t, ex)
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	enginetest.Must(p.Human().Answer(t.Context(), "", "Yes."))(t)
	p.LetGo()
	next := p.Executor("codex")
	enginetest.Claim(t, next)
	enginetest.Check(t, next, state.CheckRed)
}

func TestARunningCheckIsWaitedForByName(t *testing.T) {
	t.Parallel()
	p := slow(t)
	_, ex := p.Begun()
	enginetest.Must(ex.Check(t.Context(), 0))(t)
	kit.Eventually(t, "the check runs", func() bool { return p.Runs() == 1 })
	if st := enginetest.Must(p.Human().Engine().Status())(t); st.Waiting.For != "check" || st.Task.Check.Status != state.CheckRunning {
		t.Errorf("waits for %s, check %s", st.Waiting.For, st.Task.Check.Status)
	}
	p.LetGo()
	enginetest.Check(t, ex, state.CheckRed)
}

// TestACheckWaitsForThatOfAHungServer: while the check of an earlier holder, whose server hangs, still runs in the work
// tree, the successor's waits; when it has to give up, that says nothing about the work and spends nothing.
func TestACheckWaitsForThatOfAHungServer(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("test -e code.txt"))
	_, ex := p.Begun()
	hung, err := checks.Start(checks.Spec{Dir: p.Dir, Commands: []string{"until test -e '" + p.Side + "/go'; do sleep 0.01; done"},
		Log: p.Side + "/log", Lock: p.Path(".ferrus/live/check.lock")})
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Stop()
	if out := enginetest.Must(ex.Check(t.Context(), enginetest.Brief))(t); out.Status != state.CheckRunning || out.ID != "" {
		t.Fatalf("beside another check ours is %s %s", out.ID, out.Status)
	}
	p.LetGo()
	out := enginetest.Must(ex.Check(t.Context(), kit.Patience))(t)
	if out.Status != state.CheckGreen || out.ID != "k1" || out.Task.Check.Errors != 0 {
		t.Fatalf("after it ours is %s %s with %d errors", out.ID, out.Status, out.Task.Check.Errors)
	}
}
