//go:build unix

package conductor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestATimeOfTheDayIsTheNextOneOnTheWall: each line is a time in a zone, what a person types, and when that is, with the offset. The zones
// put their clocks forward and back at 02:00, 03:00, midnight and by half an hour.
func TestATimeOfTheDayIsTheNextOneOnTheWall(t *testing.T) {
	const layout = "2006-01-02 15:04:05 -0700"
	for _, x := range []struct{ zone, now, text, want string }{
		{"UTC", "2026-03-10 22:00:00 +0000", "07:00", "2026-03-11 07:00:00 +0000"},
		{"UTC", "2026-03-10 06:59:59 +0000", "07:00", "2026-03-10 07:00:00 +0000"},
		{"UTC", "2026-03-10 07:00:00 +0000", "07:00", "2026-03-11 07:00:00 +0000"},
		{"UTC", "2026-03-10 07:00:01 +0000", "7:00", "2026-03-11 07:00:00 +0000"},
		{"UTC", "2026-12-31 23:59:00 +0000", "00:00", "2027-01-01 00:00:00 +0000"},
		{"UTC", "2028-02-28 22:00:00 +0000", "07:00", "2028-02-29 07:00:00 +0000"},
		{"UTC", "2026-03-10 22:00:00 +0000", "2h", "2026-03-11 00:00:00 +0000"},
		{"UTC", "2026-03-10 22:00:00 +0000", "90m", "2026-03-10 23:30:00 +0000"},
		{"Asia/Kolkata", "2026-03-10 22:00:00 +0530", "07:00", "2026-03-11 07:00:00 +0530"},

		// The clocks go forward in the night: it is shorter by an hour, and 02:30 is when they do.
		{"Europe/Berlin", "2026-03-28 22:00:00 +0100", "07:00", "2026-03-29 07:00:00 +0200"},
		{"Europe/Berlin", "2026-03-28 22:00:00 +0100", "9h", "2026-03-29 08:00:00 +0200"},
		{"Europe/Berlin", "2026-03-29 01:59:00 +0100", "02:30", "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "2026-03-29 01:59:00 +0100", "02:00", "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "2026-03-29 01:59:00 +0100", "03:00", "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "2026-03-29 03:00:00 +0200", "02:30", "2026-03-30 02:30:00 +0200"},
		{"Europe/Berlin", "2026-03-29 03:00:00 +0200", "01:30", "2026-03-30 01:30:00 +0200"},
		{"America/New_York", "2026-03-07 22:00:00 -0500", "07:00", "2026-03-08 07:00:00 -0400"},
		{"America/New_York", "2026-03-08 01:00:00 -0500", "02:15", "2026-03-08 03:00:00 -0400"},
		{"Australia/Lord_Howe", "2026-10-04 01:00:00 +1030", "02:15", "2026-10-04 02:30:00 +1100"},
		{"Africa/Cairo", "2026-04-23 22:00:00 +0200", "00:30", "2026-04-24 01:00:00 +0300"},

		// They go back: the night is longer, and 02:30 comes twice.
		{"Europe/Berlin", "2026-10-24 22:00:00 +0200", "07:00", "2026-10-25 07:00:00 +0100"},
		{"Europe/Berlin", "2026-10-24 22:00:00 +0200", "02:30", "2026-10-25 02:30:00 +0200"},
		{"Europe/Berlin", "2026-10-25 02:45:00 +0200", "02:30", "2026-10-25 02:30:00 +0100"},
		{"Europe/Berlin", "2026-10-25 02:30:00 +0100", "02:30", "2026-10-26 02:30:00 +0100"},
		{"America/New_York", "2026-11-01 00:30:00 -0400", "01:15", "2026-11-01 01:15:00 -0400"},
		{"America/New_York", "2026-11-01 01:20:00 -0400", "01:15", "2026-11-01 01:15:00 -0500"},
		{"Australia/Lord_Howe", "2026-04-05 01:50:00 +1100", "01:45", "2026-04-05 01:45:00 +1030"},
		{"Africa/Cairo", "2026-10-29 23:30:00 +0300", "23:15", "2026-10-29 23:15:00 +0200"},

		{"UTC", "2026-03-10 22:00:00 +0000", "24:00", ""},
		{"UTC", "2026-03-10 22:00:00 +0000", "07:60", ""},
		{"UTC", "2026-03-10 22:00:00 +0000", "7", ""},
		{"UTC", "2026-03-10 22:00:00 +0000", "0s", ""},
		{"UTC", "2026-03-10 22:00:00 +0000", "-2h", ""},
		{"UTC", "2026-03-10 22:00:00 +0000", "tomorrow", ""},
	} {
		zone, err := time.LoadLocation(x.zone)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(layout, x.now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseUntil(x.text, now.In(zone))
		text := ""
		if err == nil {
			text = got.In(zone).Format(layout)
		}
		if text != x.want {
			t.Errorf("in %s at %s: %s is %q, not %q (%v)", x.zone, x.now, x.text, text, x.want, err)
		}
	}
}

// TestWithinIsBetweenTheTimesOfANight: each line is a night, and a time that is in it or not.
func TestWithinIsBetweenTheTimesOfANight(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		from, until, now string
		want             bool
	}{
		{"22:00", "07:00", "2026-03-10 21:59", false},
		{"22:00", "07:00", "2026-03-10 22:00", true},
		{"22:00", "07:00", "2026-03-11 02:00", true},
		{"22:00", "07:00", "2026-03-11 06:59", true},
		{"22:00", "07:00", "2026-03-11 07:00", false},
		{"22:00", "07:00", "2026-03-11 12:00", false},
		{"09:00", "17:00", "2026-03-10 08:59", false},
		{"09:00", "17:00", "2026-03-10 09:00", true},
		{"09:00", "17:00", "2026-03-10 17:00", false},
		{"22:00", "07:00", "2026-03-29 03:30", true}, // the clocks have gone forward
		{"22:00", "02:30", "2026-03-29 03:00", false},
		{"22:00", "07:00", "2026-10-25 06:30", true}, // they have gone back
	} {
		now, err := time.ParseInLocation("2006-01-02 15:04", x.now, berlin)
		if err != nil {
			t.Fatal(err)
		}
		from, until := clock(t, x.from), clock(t, x.until)
		if got := Within(from, until, now); got != x.want {
			t.Errorf("%s is between %s and %s: %v", x.now, x.from, x.until, got)
		}
	}
}

func clock(t *testing.T, text string) Clock {
	t.Helper()
	c, err := ParseClock(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAParkedRunWakesWhenItEnds: one that waits for a limit wakes at --until, and again when the grace is over. What the loops cut off ends then.
func TestAParkedRunWakesWhenItEnds(t *testing.T) {
	c := conducting(t, "")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c.Now, c.Until = time.Now, Until{At: began.Add(time.Hour), Grace: 30 * time.Minute}
		work, end := c.Until.Context(t.Context())
		defer end()
		var woke []time.Duration
		for range 3 {
			c.wait(t.Context(), store.NewWatcher(nil, func() {}), facts(state.Executing), Act{Do: park, Until: began.Add(10 * time.Hour)})
			woke = append(woke, time.Since(began))
			synctest.Wait()
			if over := time.Since(began) >= 90*time.Minute; (work.Err() != nil) != over {
				t.Errorf("after %s: %v", time.Since(began), work.Err())
			}
		}
		if want := [3]time.Duration{time.Hour, 90 * time.Minute, 10 * time.Hour}; [3]time.Duration(woke) != want {
			t.Errorf("it woke after %v, not %v", woke, want)
		}
		if never, end := (Until{}).Context(t.Context()); never.Err() != nil {
			t.Error("never is over")
		} else {
			end()
			if context.Cause(never) != context.Canceled {
				t.Error(context.Cause(never))
			}
		}
	})
}

// TestAStartThatComesTooLateIsNone: the time may pass while the checks are tried.
func TestAStartThatComesTooLateIsNone(t *testing.T) {
	c := conducting(t, "[checks]\ncommands = []\n[hq.executor]\nagent = \"command\"\ncommand = \"true\"\n")
	if _, err := c.e.Session(engine.Caller{Role: state.Human, TTY: true}).CreateTask(t.Context(), "Do it.", ""); err != nil {
		t.Fatal(err)
	}
	for _, late := range []bool{true, false} {
		c.Until = Until{At: noon.Add(time.Minute)}
		if late {
			c.Until.At = noon
		}
		f, err := c.gather()
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.start(t.Context(), f, Act{Do: start, Duty: ex, Prompt: "executor-work"})
		if err != nil || !again {
			t.Error(again, err)
		}
		list, err := process.Runs(Runs(c.e, f.Task.TaskID))
		if err != nil || (len(list) == 0) != late {
			t.Errorf("late %v: %+v, %v", late, list, err)
		}
	}
	if err := EndAll(t.Context(), c.e); err != nil {
		t.Error(err)
	}
}
