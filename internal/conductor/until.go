package conductor

import (
	"context"
	"fmt"
	"time"
)

// Until says when a run starts nothing more, though its tasks are not over. The zero value is never.
type Until struct {
	At    time.Time     // from then on no agent is started
	Grace time.Duration // how long the agents that work then may go on
}

// Passed reports whether no agent is started any more.
func (u Until) Passed(now time.Time) bool { return !u.At.IsZero() && !now.Before(u.At) }

// End returns when the agents that still work are ended; zero for never.
func (u Until) End() time.Time {
	if u.At.IsZero() {
		return u.At
	}
	return u.At.Add(u.Grace)
}

// Over reports whether the agents that still work are ended.
func (u Until) Over(now time.Time) bool { return u.Passed(now) && !now.Before(u.End()) }

// next returns the next time at which u changes anything; zero for none.
func (u Until) next(now time.Time) time.Time {
	switch {
	case !u.Passed(now):
		return u.At
	case !u.Over(now):
		return u.End()
	}
	return time.Time{}
}

// Context returns a context that is cancelled when u is over. The caller calls end.
func (u Until) Context(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	if u.At.IsZero() {
		return ctx, cancel
	}
	timer := time.AfterFunc(time.Until(u.End()), cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// A Clock is a time of the day, as clocks on the wall show it.
type Clock struct{ Hour, Minute int }

// ParseClock reads a time such as 07:00.
func ParseClock(text string) (Clock, error) {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return Clock{}, fmt.Errorf("%q is no time of the day", text)
	}
	return Clock{t.Hour(), t.Minute()}, nil
}

func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute) }

// Next returns the first time after now at which the clocks of now's location show c. Where they are put forward over it, that is
// the moment at which they are.
func (c Clock) Next(now time.Time) time.Time { return c.nearest(now, 1) }

// Last is Next for the time before: the last such time that is not after now.
func (c Clock) Last(now time.Time) time.Time { return c.nearest(now, -1) }

// Within reports whether now is between from and the next until: from has come since until last has.
func Within(from, until Clock, now time.Time) bool { return from.Last(now).After(until.Last(now)) }

// nearest returns the nearest time of c after now, or for -1 at or before it.
func (c Clock) nearest(now time.Time, direction int) (found time.Time) {
	year, month, day := now.Date()
	for d := -2; d <= 2; d++ {
		for _, t := range c.on(time.Date(year, month, day+d, c.Hour, c.Minute, 0, 0, time.UTC), now.Location()) {
			if t.After(now) == (direction > 0) && (found.IsZero() || t.Before(found) == (direction > 0)) {
				found = t
			}
		}
	}
	return found
}

// on returns the times at which clocks in loc show what wall shows in UTC: two where they are put back over it.
func (c Clock) on(wall time.Time, loc *time.Location) (list []time.Time) {
	var skipped time.Time
	for _, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // the offsets on both sides of a change
		_, offset := wall.Add(near).In(loc).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(loc)
		if t.Hour() == c.Hour && t.Minute() == c.Minute {
			list = append(list, t)
		} else if skipped.IsZero() { // with the offset before the change it is after it
			skipped, _ = t.ZoneBounds()
		}
	}
	if len(list) == 0 {
		list = append(list, skipped)
	}
	return list
}

// ParseUntil returns the time that a person means by 07:00, the next such time, or by 2h, so long after now.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	if c, err := ParseClock(text); err == nil {
		return c.Next(now), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return time.Time{}, fmt.Errorf("%q is neither a time of the day nor a duration", text)
	}
	return now.Round(0).Add(d), nil // without the clock that stands still while the machine sleeps
}
