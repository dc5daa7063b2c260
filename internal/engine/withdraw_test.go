package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// leaving is the context of a caller that leaves as soon as the work is claimed.
type leaving struct {
	context.Context
	e *engine.Engine
}

func (g leaving) Err() error {
	if snap, err := g.e.View(); err != nil || snap.Task.ClaimedBy != "" {
		return context.Canceled
	}
	return nil
}

// TestAClaimThatNobodyWasToldIsFreeAtOnce: the work does not lie idle until the silence is over. The token alone is not
// enough to be the holder: who comes next is another one, under an epoch of its own.
func TestAClaimThatNobodyWasToldIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	lost := remotely(t, e, state.Executor, "tk-1", "")
	if got, _, _ := lost.AwaitTask(leaving{t.Context(), e}, kit.Patience, false); got == nil {
		t.Fatal("it was not claimed, so nothing is lost")
	}
	next := remotely(t, e, state.Executor, "tk-1", "")
	if got := enginetest.Claim(t, next); got.Task.Epoch != 2 || next.Claim() == lost.Claim() || left(next, got.Snapshot) <= 0 {
		t.Errorf("claimed under epoch %d, %v left", got.Task.Epoch, left(next, got.Snapshot))
	}
	enginetest.Refused(t, enginetest.Second(lost.Progress(t.Context(), "Still here.")), refusal.LeaseLost, "its lease ran out")

	// One that was told keeps it, whatever becomes of a later call.
	_, _, _ = enginetest.Must(remotely(t, e, state.Executor, "tk-1", "").With(next.Claim()))(t).AwaitTask(leaving{t.Context(), e}, kit.Patience, false)
	unclaimed(t, remotely(t, e, state.Executor, "tk-1", ""))
}

// TestALostAnswerIsGivenAgain to a session, and to a caller that names the claim that it had before: their next call finds the
// claim that was made for them, with a lease that runs.
func TestALostAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	old := claimed(t, e, "tk-1")
	for name, again := range map[string]func(first *engine.Session) *engine.Session{
		"in its session":        func(first *engine.Session) *engine.Session { return first },
		"with an earlier claim": func(*engine.Session) *engine.Session { return remotely(t, e, state.Executor, "tk-1", old) },
	} {
		enginetest.Must(p.Human().Release(t.Context(), ""))(t)
		first := remotely(t, e, state.Executor, "tk-1", old)
		if got, _, _ := first.AwaitTask(leaving{t.Context(), e}, kit.Patience, false); got == nil {
			t.Fatal("it was not claimed, so nothing is lost")
		}
		epoch := enginetest.View(t, first).Task.Epoch
		s := again(first)
		s.Touch() // as each call does
		enginetest.Claim(t, s)
		if now := enginetest.View(t, s); now.Task.Epoch != epoch || s.Claim() != first.Claim() || left(s, now) < time.Minute {
			t.Errorf("%s: epoch %d, not %d, claim %s, not %s, %v left", name, now.Task.Epoch, epoch, s.Claim(), first.Claim(), left(s, now))
		}
	}
}

// TestACheckThatIsAboutToStartIsNotAbandoned: between the commit and the helper's lock no process runs it.
func TestACheckThatIsAboutToStartIsNotAbandoned(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	e := p.Engine()
	enginetest.Must(p.Human().CreateTask(t.Context(), "Build it.", ""))(t)
	s := enginetest.Must(e.Remote(engine.Caller{Role: state.Executor, Agent: "executor:net:1"}, "tk-1", claimed(t, e, "tk-1")))(t)
	snap := enginetest.View(t, s)
	snap.Task.Check = state.Check{ID: "k1", Status: state.CheckRunning}
	j := engine.NewJob(s, snap.Task)
	e.SetJob(j)
	if got := e.Present(snap).Task.Check.Status; got != state.CheckRunning {
		t.Errorf("about to start it is %s", got)
	}
	j.End()
	if got := e.Present(snap).Task.Check.Status; got != state.CheckAbandoned {
		t.Errorf("ended and still said to be running, it is %s", got)
	}
}
