package engine

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/kit"
)

// An hourglass is what two sessions know of the time: one boot, and for each a clock that may be another one.
type hourglass struct {
	*stage
	boot   int
	nanos  int64
	ahead  [2]int64
	zoned  bool  // the two have clocks of their own
	since  int64 // of the newest grant
	by     int   // whose clock it was granted by
	wall   time.Time
	acting int
}

func (h *hourglass) instant() lease.Instant {
	i := lease.Instant{Boot: fmt.Sprint("boot", h.boot), Nanos: h.nanos + h.ahead[h.acting]}
	if h.zoned && h.acting == 1 {
		i.Clock = "time:[1]"
	}
	return i
}

// may reports whether session i may take the work.
func (h *hourglass) may(i int) bool {
	switch h.is.owner {
	case nobody, ended:
		return true
	case owner(i):
		return false
	}
	return !(h.zoned && h.by != i) && h.nanos-h.since >= unit
}

// TestTwoSessionsByAnyClocks: however two sessions interleave, clocks jump, machines restart and processes end, hang and
// come back, there is one holder at most, a live one keeps the work for its term, and no lease is for ever.
func TestTwoSessionsByAnyClocks(t *testing.T) {
	checks := map[bool]string{false: "1000", true: "30000"}[kit.Full()] // a fifth of it in a short run
	if err := errors.Join(flag.Set("rapid.checks", checks), flag.Set("rapid.nofailfile", "true")); err != nil {
		t.Fatal(err)
	}
	defer flag.Set("rapid.checks", "100")
	g := newStage(t)
	cases := 0
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		h := &hourglass{stage: g, nanos: 1 << 50, wall: time.Unix(1<<31, 0)}
		if h.zoned = rapid.Bool().Draw(rt, "zoned"); h.zoned {
			h.ahead[1] = rapid.Int64Range(-2*int64(time.Hour), 2*int64(time.Hour)).Draw(rt, "ahead")
		}
		g.e.opts.Clock, g.e.opts.Now = h.instant, func() time.Time { return h.wall }
		s := begin()
		g.at(&s)
		g.raise(g.sup, creating)
		for range 60 {
			g.at(&s)
			h.step(rt)
			for _, f := range g.faults {
				rt.Error(f)
			}
			g.faults = nil
		}
	})
	t.Logf("rig: cases=%d bad=%d; histories of 60 steps", cases, one(t.Failed()))
}

// step is one thing that somebody does, or that happens.
func (h *hourglass) step(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "who")
	h.acting = i
	x, s := &h.is.ex[i], h.ex[i]
	what := rapid.SampledFrom([]string{"claims", "claims", "claims", "renews", "notes", "stops", "comes back", "dies", "passes", "passes",
		"jumps", "restarts"}).Draw(rt, "what")
	switch what {
	case "passes":
		h.nanos += rapid.SampledFrom([]int64{1, unit / 3, unit - 1, unit, int64(time.Hour)}).Draw(rt, "time")
		return
	case "jumps":
		h.wall = h.wall.Add(time.Duration(rapid.Int64Range(-87660, 87660).Draw(rt, "hours")) * time.Hour)
		return
	case "restarts":
		h.restart()
		h.boot, h.nanos = h.boot+1, rapid.Int64Range(1, 1<<51).Draw(rt, "uptime")+2*int64(time.Hour)
		return
	case "stops", "comes back":
		x.stopped = what == "stops"
		return
	case "dies":
		h.dies(i)
		return
	}
	if x.stopped {
		return
	}
	mine, epoch := h.is.owner == owner(i), h.is.task.Epoch
	did := false
	switch what {
	case "claims":
		// That a live holder keeps its term is for may to say: the chronicle counts in whole terms.
		want := h.may(i)
		h.is.left = map[bool]remains{true: over, false: runs}[want]
		if did = h.raise(s, s.claiming(h.is.snapshot(), new(predecessor))); did {
			x.epoch = h.is.task.Epoch
		}
		if did != want {
			rt.Fatalf("%s claims: %v, should be %v; held by %d, %d of its term are over", exIDs[i], did, want, h.is.owner, h.nanos-h.since)
		}
		if did && h.is.task.Epoch != epoch+1 {
			rt.Fatalf("epoch %d after %d", h.is.task.Epoch, epoch)
		}
	case "renews":
		did = h.renew(i)
	case "notes":
		did = h.raise(s, transition{event: state.Progress})
	}
	if what != "claims" && did != mine {
		rt.Fatalf("%s %s: %v, and it holds the work: %v", exIDs[i], what, did, mine)
	}
	if did {
		h.since, h.by = h.nanos, i
	}
}
