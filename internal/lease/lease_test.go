package lease

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	boot = "b1"
	ttl  = 90 * time.Second
)

var granted = Instant{Boot: boot, Nanos: 1_000_000_000_000}

func at(d time.Duration) Instant { return Instant{Boot: granted.Boot, Nanos: granted.Nanos + int64(d)} }

// S1-22, S1-23, S1-27: who may be replaced, and whether the old holder can still be editing.
func TestWhoMayBeReplaced(t *testing.T) {
	term := Grant(granted, ttl)
	rebooted := Instant{Boot: "b2", Nanos: 5}
	behind := at(-time.Hour) // a clock on which the term has more left than it was ever given
	ahead := Instant{Boot: boot, Clock: "time:[1]", Nanos: granted.Nanos + int64(time.Hour)}
	hostile := Term{Boot: boot, DeadlineNS: math.MaxInt64, TTLNS: int64(ttl)}
	wrapped := Term{Boot: boot, DeadlineNS: math.MinInt64, TTLNS: int64(ttl)}

	const (
		runs   = "its lease runs"
		ended  = "its process has ended"
		booted = "the machine has been restarted since"
		paused = "its process lives and the task is paused"
		blind  = "its process lives and its deadline cannot be read here"
		nobody = "no deadline of it is known here"
		out    = "its lease ran out"
		cutOff = "its computer has not been heard of"
	)
	cases, bad := 0, 0
	for _, c := range []struct {
		name   string
		term   Term
		now    Instant
		holder Probe
		frozen bool
		want   Verdict
	}{
		// A holder that has ended is replaced at once, whatever its lease says.
		{"gone", term, at(0), Gone, false, Verdict{true, true, ended}},
		{"gone, paused", term, at(0), Gone, true, Verdict{true, true, ended}},
		{"gone, expired", term, at(ttl), Gone, false, Verdict{true, true, ended}},
		{"gone, zero term", Term{}, at(0), Gone, false, Verdict{true, true, ended}},
		{"gone, other boot", term, rebooted, Gone, false, Verdict{true, true, ended}},

		// A computer that is cut off may still be at work.
		{"lost", term, at(0), Lost, false, Verdict{true, false, cutOff}},
		{"lost, paused", term, at(0), Lost, true, Verdict{true, false, cutOff}},
		{"lost, other boot", term, rebooted, Lost, false, Verdict{true, false, cutOff}},
		{"lost, zero term", Term{}, at(0), Lost, false, Verdict{true, false, cutOff}},

		// No process outlives a boot; a lock that is held proves that this one did not have to (a shared folder).
		{"unknown, other boot", term, rebooted, Unknown, false, Verdict{true, true, booted}},
		{"unknown, other boot, paused", term, rebooted, Unknown, true, Verdict{true, true, booted}},
		{"alive, other boot", term, rebooted, Alive, false, Verdict{false, false, blind}},
		{"alive, other boot, paused", term, rebooted, Alive, true, Verdict{false, false, paused}},

		// S1-25: a live holder that waits for somebody else's answer keeps the work.
		{"alive, paused", term, at(0), Alive, true, Verdict{false, false, paused}},
		{"alive, paused, expired", term, at(24 * time.Hour), Alive, true, Verdict{false, false, paused}},
		{"unknown, paused, running", term, at(ttl - 1), Unknown, true, Verdict{false, false, runs}},
		{"unknown, paused, expired", term, at(ttl), Unknown, true, Verdict{true, false, out}},

		// S1-24: a holder that lives but is silent (stopped, hung) may be replaced, and may still be editing.
		{"alive, running", term, at(ttl - 1), Alive, false, Verdict{false, false, runs}},
		{"alive, expired to the nanosecond", term, at(ttl), Alive, false, Verdict{true, false, out}},
		{"alive, long expired", term, at(time.Hour), Alive, false, Verdict{true, false, out}},
		{"unknown, just granted", term, at(0), Unknown, false, Verdict{false, false, runs}},
		{"unknown, running", term, at(ttl - 1), Unknown, false, Verdict{false, false, runs}},
		{"unknown, expired", term, at(ttl), Unknown, false, Verdict{true, false, out}},

		// A deadline of another clock counts for nothing: the process decides, and where there is none, the claimant.
		{"alive, illegible", term, behind, Alive, false, Verdict{false, false, blind}},
		{"alive, illegible, paused", term, behind, Alive, true, Verdict{false, false, paused}},
		{"unknown, illegible", term, behind, Unknown, false, Verdict{true, false, nobody}},
		{"alive, zero term", Term{}, at(0), Alive, false, Verdict{false, false, blind}},
		{"unknown, zero term", Term{}, at(0), Unknown, false, Verdict{true, false, nobody}},
		{"alive, other boot, whose clock is ahead", term, Instant{Boot: "b2", Nanos: ahead.Nanos}, Alive, false, Verdict{false, false, blind}},
		{"alive, by a clock that is ahead", term, ahead, Alive, false, Verdict{false, false, blind}},
		{"alive, by a clock that is ahead, paused", term, ahead, Alive, true, Verdict{false, false, paused}},
		{"unknown, by a clock that is ahead", term, ahead, Unknown, false, Verdict{true, false, nobody}},
		{"gone, by a clock that is ahead", term, ahead, Gone, false, Verdict{true, true, ended}},
		{"alive, a deadline at the end of time", hostile, at(0), Alive, false, Verdict{false, false, blind}},
		{"unknown, a deadline at the end of time", hostile, at(0), Unknown, false, Verdict{true, false, nobody}},
		{"unknown, a deadline before time began", wrapped, at(0), Unknown, false, Verdict{true, false, nobody}},
		{"unknown, zero term, paused", Term{}, at(0), Unknown, true, Verdict{true, false, nobody}},
	} {
		cases++
		if got := Dead(c.term, c.now, c.holder, c.frozen); got != c.want {
			bad++
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
	t.Logf("rig: cases=%d bad=%d; terms by clocks, boots and probes", cases, bad)
}

// S1-23: a renewal gives the whole ttl from now, not from the old deadline.
func TestHowLongATermRuns(t *testing.T) {
	term := Grant(granted, ttl)
	for _, c := range []struct {
		name string
		term Term
		now  Instant
		want time.Duration
	}{
		{"granted now", term, at(0), ttl},
		{"a while later", term, at(30 * time.Second), 60 * time.Second},
		{"at the deadline", term, at(ttl), 0},
		{"past it", term, at(ttl + time.Second), -time.Second},
		{"another boot", term, Instant{Boot: "b2", Nanos: granted.Nanos}, 0},
		{"another clock", term, Instant{Boot: boot, Clock: "time:[1]", Nanos: granted.Nanos}, 0},
		{"nothing known", Term{}, at(0), 0},
		{"renewed", Grant(at(60*time.Second), ttl), at(60 * time.Second), ttl},
		{"no ttl", Grant(granted, 0), at(0), 0},
	} {
		if got := c.term.Left(c.now); got != c.want {
			t.Errorf("%s: %v left, want %v", c.name, got, c.want)
		}
	}
}

// The term stands in STATE.json: its keys are a format, and the zero Term leaves none behind.
func TestTheTermAsItIsStored(t *testing.T) {
	for want, term := range map[string]Term{
		`{"boot":"b1","deadline_ns":1090000000000,"ttl_ns":90000000000}`:                  Grant(granted, ttl),
		`{"boot":"b1","clock":"time:[1]","deadline_ns":90000000007,"ttl_ns":90000000000}`: Grant(Instant{boot, "time:[1]", 7}, ttl),
		`{}`: {},
	} {
		got, err := json.Marshal(term)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
		var back Term
		if err := json.Unmarshal(got, &back); err != nil || back != term {
			t.Errorf("%s reads back as %+v, %v", got, back, err)
		}
	}
}

func drawTTL(t *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(1, int64(2*time.Hour)).Draw(t, "ttl"))
}

// Who may be replaced now may be replaced ever after, until somebody grants a new term.
func TestALeaseNeverUnexpires(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ttl := drawTTL(t)
		term := Grant(granted, ttl)
		holder := rapid.SampledFrom([]Probe{Unknown, Alive, Gone}).Draw(t, "holder")
		frozen := rapid.Bool().Draw(t, "frozen")
		var dead bool
		var elapsed time.Duration
		for _, step := range rapid.SliceOfN(rapid.Int64Range(0, int64(ttl)), 1, 20).Draw(t, "steps") {
			elapsed += time.Duration(step)
			v := Dead(term, at(elapsed), holder, frozen)
			if dead && !v.Dead {
				t.Fatalf("after %v of %v it lives again: %s", elapsed, ttl, v.Why)
			}
			if expired := elapsed >= ttl; holder == Unknown && v.Dead != expired {
				t.Fatalf("after %v of %v dead is %v: %s", elapsed, ttl, v.Dead, v.Why)
			}
			if holder == Alive && v.Sure {
				t.Fatalf("sure that a live process has ended: %s", v.Why)
			}
			dead = v.Dead
		}
	})
}

// However the clock jumps, also back and also into another boot, a holder of whom nothing is known keeps the work for
// no longer than its ttl: all readings at which its lease runs lie within one ttl.
func TestNoClockMakesALeaseLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ttl := drawTTL(t)
		from := rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "from")
		term := Grant(Instant{Boot: boot, Nanos: from}, ttl)
		frozen := rapid.Bool().Draw(t, "frozen")
		near := rapid.Int64Range(from-2*int64(ttl), from+2*int64(ttl))
		far := rapid.Int64Range(0, math.MaxInt64/2)
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for range rapid.IntRange(1, 30).Draw(t, "readings") {
			now := Instant{Boot: boot, Nanos: rapid.OneOf(near, far).Draw(t, "now")}
			if rapid.IntRange(0, 9).Draw(t, "boot") == 0 {
				now.Boot = "b2"
			}
			if rapid.IntRange(0, 9).Draw(t, "clock") == 0 {
				now.Clock = "time:[1]"
			}
			if Dead(term, now, Unknown, frozen).Dead {
				continue
			}
			if now.Boot != boot || now.Clock != "" {
				t.Fatalf("it runs in another boot, or by another clock")
			}
			lo, hi = min(lo, now.Nanos), max(hi, now.Nanos)
			if hi-lo >= int64(ttl) {
				t.Fatalf("it runs at %d and still at %d: longer than %d", lo, hi, int64(ttl))
			}
		}
	})
}
