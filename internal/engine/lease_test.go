package engine_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// forgotten takes the liveness file of a session away: what a folder on another machine, or git clean, looks like.
func forgotten(t testing.TB, s *engine.Session) {
	t.Helper()
	if err := os.Remove(s.Engine().Place().Path("live", s.ID+".lock")); err != nil {
		t.Fatal(err)
	}
}

func left(s *engine.Session, snap store.Snapshot) time.Duration {
	return snap.Lease.Term.Left(s.Engine().Instant())
}

// unclaimed is that a waiting executor gets nothing.
func unclaimed(t testing.TB, s *engine.Session) {
	t.Helper()
	if got, _ := enginetest.Must2(s.AwaitTask(t.Context(), enginetest.Brief, false))(t); got != nil {
		t.Fatalf("%s has claimed", s.Agent)
	}
}

func TestAHolderIsReplacedWhenItsLeaseRanOutOrItsProcessEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(t *testing.T, ex *engine.Session, c *enginetest.Dial)
		taken   bool
		stale   bool // its process may still be editing
		why     string
	}{
		"it lives":              {func(t *testing.T, ex *engine.Session, c *enginetest.Dial) { c.Pass(89 * time.Second) }, false, false, ""},
		"it hangs":              {func(t *testing.T, ex *engine.Session, c *enginetest.Dial) { c.Pass(90 * time.Second) }, true, true, "its lease ran out"},
		"it ends":               {func(t *testing.T, ex *engine.Session, c *enginetest.Dial) { enginetest.Dies(t, ex) }, true, false, "its process has ended"},
		"nothing proves it":     {func(t *testing.T, ex *engine.Session, c *enginetest.Dial) { forgotten(t, ex); c.Pass(89 * time.Second) }, false, false, ""},
		"nothing, for too long": {func(t *testing.T, ex *engine.Session, c *enginetest.Dial) { forgotten(t, ex); c.Pass(90 * time.Second) }, true, true, "its lease ran out"},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Plain(t, enginetest.Gate("true"))
			c0 := p.Clocked()
			_, ex := p.Begun()
			c.happens(t, ex, c0)
			next := p.Executor("qwen")
			if !c.taken {
				unclaimed(t, next)
				enginetest.Must(ex.Progress(t.Context(), "Still here."))(t)
				return
			}
			before := enginetest.View(t, next)
			got := enginetest.Claim(t, next)
			if got.Task.Epoch != before.Task.Epoch+1 || got.Task.ClaimedBy != "executor:qwen:1" || left(next, got.Snapshot) != 90*time.Second {
				t.Errorf("epoch %d after %d, held by %s for %v", got.Task.Epoch, before.Task.Epoch, got.Task.ClaimedBy, left(next, got.Snapshot))
			}
			if (got.Stale != "") != c.stale || c.stale && got.Stale != "executor:codex:1" {
				t.Errorf("stale: %q", got.Stale)
			}
			if got.Top.Note != c.why {
				t.Errorf("the journal says %q, want %q", got.Top.Note, c.why)
			}
		})
	}
}

// S1-24: everything that the one who lost the work may try.
func TestWhoLostTheWorkChangesNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	c := p.Clocked()
	_, ex := p.Begun()
	enginetest.Check(t, ex, state.CheckGreen)
	c.Pass(2 * time.Minute)
	enginetest.Claim(t, p.Executor("qwen"))
	at := c.Now().Local().Format(time.TimeOnly)
	same := enginetest.Unchanged(t, ex)
	for name, call := range map[string]func() error{
		"check":  func() error { return enginetest.Second(ex.Check(t.Context(), enginetest.Brief)) },
		"submit": func() error { return enginetest.Second(ex.Submit(t.Context(), enginetest.Work, enginetest.Brief)) },
		"consult": func() error {
			return enginetest.Second(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))
		},
		"progress":         func() error { return enginetest.Second(ex.Progress(t.Context(), "Mine.")) },
		"ask_human":        func() error { return enginetest.Second(ex.AskHuman(t.Context(), "May I?", nil)) },
		"wait_for_consult": func() error { _, _, err := ex.AwaitResponse(t.Context(), enginetest.Brief); return err },
		"heartbeat":        func() error { return enginetest.Second(ex.Heartbeat(t.Context())) },
	} {
		err := call()
		if refusal.CodeOf(err) != refusal.LeaseLost || !strings.Contains(err.Error(), "executor:qwen:1 took this work over at "+at+" because its lease ran out") {
			t.Errorf("%s: %v", name, err)
		}
	}
	same()
	// A session that never held it gets that as the answer.
	third := p.Executor("goose")
	enginetest.Refused(t, enginetest.Second(third.Check(t.Context(), enginetest.Brief)), refusal.NotClaimed, "claimed by executor:qwen:1")
	enginetest.Refused(t, enginetest.Second(third.Heartbeat(t.Context())), refusal.NotClaimed)
	same()
}

func TestAnExpiredHolderGoesOnWhileNobodyTookTheWork(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	c := p.Clocked()
	_, ex := p.Begun()
	c.Pass(time.Hour)
	if v := ex.Engine().Verdict(enginetest.View(t, ex)); !v.Dead {
		t.Fatalf("not expired: %s", v.Why)
	}
	done := enginetest.Must(ex.Progress(t.Context(), "Still here."))(t)
	if left(ex, done.Snapshot) != 90*time.Second || done.Task.Epoch != 1 {
		t.Errorf("the lease runs %v under epoch %d", left(ex, done.Snapshot), done.Task.Epoch)
	}
	unclaimed(t, p.Executor("qwen"))
	enginetest.Submitted(t, ex)
}

// S1-25.
func TestALiveHoldersLeaseStandsStillInAPauseAndStartsAfreshAfterIt(t *testing.T) {
	enginetest.InFiles(t, "it removes the lock of a session")
	t.Parallel()
	for name, c := range map[string]struct {
		pause func(t *testing.T, ex *engine.Session)
		end   func(t *testing.T, p *enginetest.Machine, ex *engine.Session)
	}{
		"question": {
			func(t *testing.T, ex *engine.Session) { enginetest.Must(ex.AskHuman(t.Context(), "May I?", nil))(t) },
			func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
				enginetest.Must(p.Human().Answer(t.Context(), "", "Do."))(t)
			},
		},
		"consultation": {
			func(t *testing.T, ex *engine.Session) {
				enginetest.Must(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))(t)
			},
			func(t *testing.T, p *enginetest.Machine, ex *engine.Session) {
				enginetest.Must(p.Human().Answer(t.Context(), "", "So."))(t)
				done, ok, err := ex.AwaitResponse(t.Context(), kit.Patience)
				if err != nil || !ok || done.Task.State != state.Executing {
					t.Fatalf("no response: %v", err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Plain(t, enginetest.Gate("true"))
			clock := p.Clocked()
			_, ex := p.Begun()
			other := p.Executor("qwen")
			c.pause(t, ex)
			clock.Pass(10 * time.Hour)
			unclaimed(t, other)
			c.end(t, p, ex)
			clock.Pass(89 * time.Second)
			unclaimed(t, other)
			clock.Pass(time.Second)
			enginetest.Claim(t, other)
		})
		t.Run(name+" of a holder not known to live", func(t *testing.T) {
			p := enginetest.Plain(t, enginetest.Gate("true"))
			clock := p.Clocked()
			_, ex := p.Begun()
			c.pause(t, ex)
			forgotten(t, ex)
			clock.Pass(10 * time.Hour)
			next := p.Executor("qwen")
			if name == "question" { // nobody works, so nobody claims, until the person has answered
				unclaimed(t, next)
				enginetest.Must(p.Human().Answer(t.Context(), "", "Do."))(t)
				clock.Pass(89 * time.Second)
				unclaimed(t, next) // afresh, for it may come back
				clock.Pass(time.Second)
			}
			enginetest.Claim(t, next)
		})
	}
}

// TestWhoNeverTakesAResponseIsReplaced: when a consultation has been answered it is the asker's turn, and one that hangs
// then keeps the work for a term, as anywhere else.
func TestWhoNeverTakesAResponseIsReplaced(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	clock := p.Clocked()
	_, ex := p.Begun()
	other := p.Executor("qwen")
	enginetest.Must(ex.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"}))(t)
	clock.Pass(10 * time.Hour)
	unclaimed(t, other)
	enginetest.Must(p.Human().Answer(t.Context(), "", "So."))(t)
	clock.Pass(89 * time.Second)
	unclaimed(t, other) // afresh, for it has not been its turn
	clock.Pass(time.Second)
	if got := enginetest.Claim(t, other); got.Stale != "executor:codex:1" || got.Task.State != state.Consultation {
		t.Errorf("stale %q in %s", got.Stale, got.Task.State)
	}
	if done, ok, err := other.AwaitResponse(t.Context(), kit.Patience); err != nil || !ok || done.Task.State != state.Executing {
		t.Errorf("the successor gets nothing: %v", err)
	}
}

// TestTheServerRenewsForAClientThatCalls, and only for one that does: S1-26. Time is the bubble's; the disk is real.
func TestTheServerRenewsForAClientThatCalls(t *testing.T) {
	enginetest.InFiles(t, "the clock of synctest does not run in a server")
	p := enginetest.Plain(t, enginetest.Gate("true")) // ttl 90 s, renewals every 30 s, silence at most 1800 s
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		here := time.Now()
		p := &enginetest.Machine{T: t, Dir: p.Dir, Side: p.Side, Opts: engine.Options{Log: enginetest.Quiet, Clock: func() lease.Instant {
			return lease.Instant{Boot: "b", Nanos: int64(time.Since(here)) + 1}
		}}}
		_, ex := p.Begun()
		ex.Touch()
		for range 58 { // 29 minutes without a call
			time.Sleep(30*time.Second + time.Millisecond)
			snap := enginetest.View(t, ex)
			if l := left(ex, snap); l < 89*time.Second {
				t.Fatalf("after %v %v are left", time.Since(here), l)
			}
			if !snap.Lease.Heartbeat.After(here) || snap.Lease.Until.Sub(snap.Lease.Heartbeat) != 90*time.Second {
				t.Fatalf("shown: heartbeat %v, until %v", snap.Lease.Heartbeat, snap.Lease.Until)
			}
		}
		lines := len(enginetest.History(t, ex.Engine()))
		if lines != 2 {
			t.Errorf("renewals are events: %d lines", lines)
		}
		time.Sleep(5 * time.Minute)
		if v := ex.Engine().Verdict(enginetest.View(t, ex)); !v.Dead || v.Why != "its lease ran out" {
			t.Errorf("a silent client keeps the work: %s", v.Why)
		}
		ex.Touch() // it calls again, and nobody has taken the work: it goes on, from now
		for _, later := range []time.Duration{0, 31 * time.Second} {
			time.Sleep(later)
			if v := ex.Engine().Verdict(enginetest.View(t, ex)); v.Dead {
				t.Errorf("%v after a client calls again it is not renewed for: %s", later, v.Why)
			}
		}
		// Once the work is gone there is nothing to renew.
		enginetest.Must(p.Human().Release(t.Context(), ""))(t)
		time.Sleep(time.Minute)
		if snap := enginetest.View(t, ex); snap.Lease != (store.Lease{}) {
			t.Errorf("a lease that nobody holds: %+v", snap.Lease)
		}
		ex.Engine().Close()
		synctest.Wait()
	})
	t.Logf("an hour in %v", time.Since(began))
}

// TestHeartbeatRenews a lease by an explicit call: S1-23, S1-28.
func TestHeartbeatRenews(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true")+"[lease]\nttl_secs = 7\nheartbeat_interval_secs = 2\n")
	c := p.Clocked()
	_, ex := p.Begun()
	c.Pass(5 * time.Second)
	snap := enginetest.Must(ex.Heartbeat(t.Context()))(t)
	if left(ex, snap) != 7*time.Second || !snap.Lease.Heartbeat.Equal(c.Now()) || !snap.Lease.Until.Equal(c.Now().Add(7*time.Second)) {
		t.Errorf("left %v, until %v", left(ex, snap), snap.Lease.Until)
	}
	if n := len(enginetest.History(t, ex.Engine())); n != 2 {
		t.Errorf("a heartbeat is an event: %d lines", n)
	}
}

func TestAClaimWhoseOutcomeWasNotKnownIsTheClaimantsOwn(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	ex.SetEpoch(0) // as if the disk had not said whether the claim stands
	enginetest.Refused(t, enginetest.Second(ex.Check(t.Context(), enginetest.Brief)), refusal.NotClaimed)
	got := enginetest.Claim(t, ex)
	if got.Task.Epoch != 1 {
		t.Errorf("claimed again, under epoch %d", got.Task.Epoch)
	}
	enginetest.Check(t, ex, state.CheckGreen)
}

// TestALostDeadlineIsNoLeaseForEver: it stands in STATE.json alone, which somebody may edit.
func TestALostDeadlineIsNoLeaseForEver(t *testing.T) {
	enginetest.InFiles(t, "it removes STATE.json")
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	c := p.Clocked()
	_, ex := p.Begun()
	p.Write(".ferrus/STATE.json", "{}")
	if snap := enginetest.View(t, ex); snap.Lease.Term != (lease.Term{}) {
		t.Fatalf("the deadline outlived the edit: %+v", snap.Lease)
	}
	next := p.Executor("qwen")
	unclaimed(t, next) // and from now on it runs
	c.Pass(89 * time.Second)
	unclaimed(t, next)
	c.Pass(time.Second)
	if got := enginetest.Claim(t, next); got.Stale != "executor:codex:1" {
		t.Errorf("stale: %q", got.Stale)
	}
}

func TestTwoOfOneNameAreTwoHolders(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	twin := p.Executor("codex")
	unclaimed(t, twin)
	enginetest.Refused(t, enginetest.Second(twin.Progress(t.Context(), "Mine.")), refusal.NotClaimed)
	enginetest.Dies(t, ex)
	if got := enginetest.Claim(t, twin); got.Task.ClaimedBy != "executor:codex:1" || got.Task.Epoch != 2 {
		t.Errorf("held by %s under epoch %d", got.Task.ClaimedBy, got.Task.Epoch)
	}
}
