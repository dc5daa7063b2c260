//go:build unix

package run

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/pipeline"
)

// A watch is a pair of clocks that a test sets: that of the wall, and the machine's own, which stands still while it
// sleeps.
type watch struct{ wall, own time.Duration }

// wear lets a yard go by a watch.
func (y *yard) wear() *watch {
	began, w := time.Now(), &watch{}
	y.o.Now = func() time.Time { return began.Add(w.wall) }
	y.o.Clock = func() lease.Instant { return lease.Instant{Boot: "this one", Nanos: int64(w.own)} }
	return w
}

// pass lets time pass by both clocks.
func (w *watch) pass(d time.Duration) { w.wall += d; w.own += d }

// hung is a run in which one works and does not end, as far as its time.
func (y *yard) hung(w *watch) *Folder {
	y.t.Helper()
	y.play("one", gated)
	f := y.launch(with("one", `, "timeout": 600`))
	y.tick(f)
	y.gone(f, "two")
	y.working("one")
	y.tick(f)
	y.stands(f, "one", pipeline.Running, "")
	w.pass(y.status(f).Worker("one").Deadline.Sub(y.o.Now()))
	return f
}

// TestASilentWorkerHasItsTimeAndTheGrace: to the nanosecond, and then it has failed within one tick, is ended, and a
// person is notified once. An output that is there by then counts. F15, S0-16.
func TestASilentWorkerHasItsTimeAndTheGrace(t *testing.T) {
	t.Parallel()
	rig(t, 2, "workers that were silent for all their time", func(t *testing.T, n int) {
		y := newYard(t)
		w := y.wear()
		f := y.hung(w)
		before := y.stamp(f)
		y.tick(f)
		w.pass(pipeline.Grace)
		y.tick(f)
		y.stands(f, "one", pipeline.Running, "")
		if y.stamp(f) != before {
			t.Error("a tick that waits has written status.json")
		}
		if n == 1 {
			y.put("go-one", "")
			y.gone(f, "one")
		}
		w.pass(time.Nanosecond)
		y.tick(f)
		if n == 1 {
			y.stands(f, "one", pipeline.Completed, "")
			return
		}
		y.stands(f, "one", pipeline.Failed, pipeline.TimedOut)
		if _, taken := f.Slot("one").Taken(); taken || y.status(f).State != pipeline.IsFailed {
			t.Errorf("taken %t, %s", taken, y.status(f).State)
		}
		for range 3 {
			w.pass(time.Minute)
			y.tick(f)
		}
		y.tells(f, 1, "one was not done by")
	})
}

// TestAClockThatIsSetHarmsNobody: an hour back, nothing is reported or started again, and no time lies before its beginning;
// an hour forward while the machine slept, and who lives has the grace once more; an hour forward while it was awake, and
// the time is over. F17.
func TestAClockThatIsSetHarmsNobody(t *testing.T) {
	t.Parallel()
	t.Run("back", func(t *testing.T) {
		y := newYard(t)
		w := y.wear()
		f := y.hung(w)
		lines := len(y.lines(f, func(l Line) bool { return l.Tell != "" || l.Event != "observed" }))
		w.wall -= time.Hour
		for range 3 {
			y.tick(f)
			w.pass(time.Second)
		}
		now := y.o.Now()
		if k := y.status(f).Worker("one"); k.Status != pipeline.Running || k.StartedAt.After(now) || k.Deadline.Before(now) || k.Deadline.Sub(now) > 10*time.Minute {
			t.Errorf("%+v at %v", k, now)
		}
		if got := len(y.lines(f, func(l Line) bool { return l.Tell != "" || l.Event != "observed" })); got != lines {
			t.Errorf("something was done again\n%s", y.story(f))
		}
		y.put("go-one", "")
		y.gone(f, "one")
		y.tick(f)
		y.stands(f, "one", pipeline.Completed, "")
		y.times(map[string]int{"one": 1, "two": 1})
	})
	t.Run("forward asleep", func(t *testing.T) {
		y := newYard(t)
		w := y.wear()
		f := y.hung(w)
		w.wall += time.Hour
		y.tick(f)
		y.stands(f, "one", pipeline.Running, "")
		w.pass(pipeline.Grace)
		y.tick(f)
		y.stands(f, "one", pipeline.Running, "")
		w.pass(time.Nanosecond)
		y.tick(f)
		y.stands(f, "one", pipeline.Failed, pipeline.TimedOut)
	})
	t.Run("forward awake", func(t *testing.T) {
		y := newYard(t)
		w := y.wear()
		f := y.hung(w)
		w.pass(time.Hour)
		y.tick(f)
		y.stands(f, "one", pipeline.Failed, pipeline.TimedOut)
	})
	t.Run("restarted", func(t *testing.T) { // whose clock begins anew: that says nothing about a sleep
		y := newYard(t)
		w := y.wear()
		f := y.hung(w)
		w.wall += time.Hour
		y.o.Clock = func() lease.Instant { return lease.Instant{Boot: "the next"} }
		y.tick(f)
		y.stands(f, "one", pipeline.Failed, pipeline.TimedOut)
	})
	t.Log("rig: cases=4 bad=0; clocks that were set")
}
