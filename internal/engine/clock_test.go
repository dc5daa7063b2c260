package engine_test

import (
	"sync"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A wall is a wall clock that somebody sets.
type wall struct {
	mu sync.Mutex
	at time.Time
}

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *wall) jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// jumps are what becomes of a wall clock. The machine that sleeps is one of them: its monotonic clock stands still.
var jumps = map[string]time.Duration{
	"an hour on": time.Hour, "an hour back": -time.Hour, "ten years on": 87660 * time.Hour, "ten years back": -87660 * time.Hour,
	"on while the machine sleeps": 8 * time.Hour, "nowhere": 0,
}

// TestTheWallClockIsForDisplayAlone: a jump of it neither takes the work from a holder nor keeps it in the hands of one
// that hangs, and ends no renewals. (A token's end is a date, and goes by the wall clock.)
func TestTheWallClockIsForDisplayAlone(t *testing.T) {
	t.Parallel()
	bad := 0
	for name, by := range jumps {
		if !t.Run(name, func(t *testing.T) { jumped(t, by) }) {
			bad++
		}
	}
	t.Logf("rig: cases=%d bad=%d; jumps of the wall clock", len(jumps), bad)
}

func jumped(t *testing.T, by time.Duration) {
	p := enginetest.Plain(t, enginetest.Gate("true"))
	c := p.Clocked()
	w := &wall{at: c.Now()}
	p.Opts.Now = w.now
	_, ex := p.Begun()
	other := p.Executor("qwen")
	c.Pass(time.Minute)
	w.jump(by)
	snap := enginetest.View(t, other)
	if v := other.Engine().Verdict(snap); v.Dead || left(other, snap) != 30*time.Second {
		t.Errorf("after the jump: %s, %v left", v.Why, left(other, snap))
	}
	unclaimed(t, other)
	conf := enginetest.Must(ex.Engine().Config())(t)
	if !ex.Engine().RenewOnce(ex, 1, conf.Lease.MaxSilence()) || left(ex, enginetest.View(t, ex)) != conf.Lease.TTL() {
		t.Errorf("not renewed: %v left", left(ex, enginetest.View(t, ex)))
	}
	if until := enginetest.View(t, ex).Lease.Until; !until.Equal(w.now().Add(conf.Lease.TTL())) {
		t.Errorf("shown until %v, and it is %v", until, w.now())
	}
	enginetest.Check(t, ex, state.CheckGreen)
	if st := enginetest.Must(other.Engine().Status())(t); st.Waiting.For != "executor" {
		t.Errorf("waits for %s", st.Waiting.For)
	}
	// What follows is a hang: it is over after a term, whatever the wall clock says.
	c.Pass(conf.Lease.TTL() - 1)
	w.jump(-2 * by)
	unclaimed(t, other)
	c.Pass(1)
	if got := enginetest.Claim(t, other); got.Stale != "executor:codex:1" || got.Task.Epoch != 2 {
		t.Errorf("stale %q under epoch %d", got.Stale, got.Task.Epoch)
	}
	enginetest.Refused(t, enginetest.Second(ex.Heartbeat(t.Context())), refusal.LeaseLost)
	enginetest.Submitted(t, other)
}

// TestARestartEndsEveryLease, at once, and also where the liveness files have gone with it.
func TestARestartEndsEveryLease(t *testing.T) {
	enginetest.InFiles(t, "terms in a database do not end with a restart of this computer")
	t.Parallel()
	defer func() { t.Logf("rig: cases=2 bad=%d; restarts", enginetest.One(t.Failed())) }()
	for name, happens := range map[string]func(t *testing.T, ex *engine.Session){
		"its process has ended":                dieIn,
		"the machine has been restarted since": func(t *testing.T, ex *engine.Session) { dieIn(t, ex); forgotten(t, ex) },
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.Plain(t, enginetest.Gate("true"))
			c := p.Clocked()
			_, ex := p.Begun()
			happens(t, ex)
			// The clock begins anew, and reads less than it did.
			p.Opts.Clock = func() lease.Instant { return lease.Instant{Boot: "b2", Nanos: 1} }
			if got := enginetest.Claim(t, p.Executor("qwen")); got.Top.Note != name || got.Stale != "" || got.Task.Epoch != 2 {
				t.Errorf("claimed because %q, stale %q, epoch %d, at %v", got.Top.Note, got.Stale, got.Task.Epoch, c.Now())
			}
		})
	}
}

func dieIn(t *testing.T, ex *engine.Session) { enginetest.Dies(t, ex) }
