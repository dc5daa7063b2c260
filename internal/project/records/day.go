package records

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// DayOf returns the day of a time in its location: from its first instant until that of the next one. Clocks may jump over its midnight, or over
// a whole date. Where a date ends twice, because clocks go back over midnight, each part is a day of its own.
func DayOf(now time.Time) (from, until time.Time) {
	date := now.Format(time.DateOnly)
	for at := now; ; { // back, from one offset from UTC to the one before
		begin, _ := at.ZoneBounds()
		if from = midnight(at); begin.IsZero() || begin.Before(from) {
			break
		}
		if at = begin.Add(-1); at.Format(time.DateOnly) != date {
			from = begin
			break
		}
	}
	for at := now; ; {
		_, end := at.ZoneBounds()
		if until = midnight(at).Add(24 * time.Hour); end.IsZero() || until.Before(end) {
			return from, until
		}
		if at = end.In(now.Location()); at.Format(time.DateOnly) != date {
			return from, at
		}
	}
}

// midnight is the last one before a time, as if the zone had always the offset of that time.
func midnight(at time.Time) time.Time {
	h, m, s := at.Clock()
	return at.Add(-time.Duration(h)*time.Hour - time.Duration(m)*time.Minute - time.Duration(s)*time.Second - time.Duration(at.Nanosecond()))
}

// A Limit is a limit of a day that is used up.
type Limit struct {
	Text  string    // a sentence
	Until time.Time // midnight
	From  time.Time // the midnight before
}

// ID names the need of a person that follows from it: one for the project and the day.
func (l Limit) ID() string { return "day:" + l.From.Format(time.RFC3339) }

// Allow is the command by which a person lifts the limits until midnight.
const Allow = "ferrus usage --allow-today"

// Recheck is how often what waits for midnight looks whether a person has lifted the limits.
const Recheck = 2 * time.Second

// UsedUp returns the limit of this day by which no agent of the project at root may start now: its own, then that of the person over all
// projects. It is the zero Limit if agents may start, also because the person has allowed it. Runs count on the day of their start.
// The error says which records cannot be read; then nothing is to be started.
func UsedUp(ctx context.Context, root string, now time.Time) (Limit, error) {
	own, all, err := Limits(root)
	if err != nil || own.None() && all.None() {
		return Limit{}, err
	}
	for _, of := range []struct {
		day  config.Day
		what string
		runs func(Options) ([]Run, error)
	}{
		{own, "this project", func(o Options) ([]Run, error) { return Read(ctx, root, o) }},
		{all, "all your projects", func(o Options) ([]Run, error) {
			list, _, err := ReadAll(ctx, o) // ferrus usage --by project names those that cannot be read
			return list, err
		}},
	} {
		zone, err := of.day.Location()
		if err != nil {
			return Limit{}, err
		}
		l := Limit{}
		l.From, l.Until = DayOf(now.In(zone))
		if of.day.None() {
			continue
		}
		runs, err := of.runs(Options{Since: l.From, Now: now})
		if err != nil {
			return Limit{}, err
		}
		if l.Text = over(of.day, Sum(runs).Spend, of.what); l.Text != "" {
			allowed, err := allowedUntil(root)
			if err != nil || now.Before(allowed) {
				return Limit{}, err
			}
			return l, nil
		}
	}
	return Limit{}, nil
}

// over says which limit of a day is used up, "" for none.
func over(day config.Day, spent Spend, what string) string {
	for _, is := range []struct {
		limit int
		used  float64
		text  string
	}{
		{day.Minutes, spent.Time.Minutes(), fmt.Sprintf("have run for %.0f minutes of %d", spent.Time.Minutes(), day.Minutes)},
		{day.Tokens, float64(spent.Usage.Tokens()), fmt.Sprintf("have used %d tokens of %d", spent.Usage.Tokens(), day.Tokens)},
		{day.Dollars, spent.Usage.Dollars, fmt.Sprintf("have cost %.2f dollars of %d", spent.Usage.Dollars, day.Dollars)},
	} {
		if is.limit > 0 && is.used >= float64(is.limit) {
			return "The agents of " + what + " " + is.text + " today."
		}
	}
	return ""
}

// Limits returns the limits of a day of the project at root, and those of the person over all projects. Those of the project are the stricter of
// what ferrus.toml says and what the person has agreed to last: an agent that edits the file lifts nothing.
func Limits(root string) (own, all config.Day, err error) {
	conf, broken := config.Load(filepath.Join(root, config.FileName))
	own = conf.Day // none of a file that cannot be read
	record, err := trust.Open(root)
	if err != nil {
		return own, all, err
	}
	if r, found, err := record.Record(); err == nil && found {
		if agreed, ok := r.Newest(); ok {
			was := config.DayOf(func(key string) string {
				for _, v := range agreed.Values {
					if v.Key == key {
						return v.Value
					}
				}
				return ""
			})
			if own = own.Stricter(was); broken != nil {
				own = was
			}
		}
	}
	person, err := config.LoadPerson()
	return own, person.Day, err
}

// ReadAll returns the runs on this computer of all projects that the person has a record of, each with its Project,
// and why some cannot be read, by their paths.
func ReadAll(ctx context.Context, o Options) (list []Run, unread map[string]error, err error) {
	roots, err := trust.Projects()
	if err != nil {
		return nil, nil, err
	}
	o.Here, unread = true, map[string]error{}
	for _, root := range roots {
		runs, err := Read(ctx, root, o)
		if err != nil {
			unread[root] = err
		}
		for _, r := range runs {
			r.Project = root
			list = append(list, r)
		}
	}
	return list, unread, ctx.Err()
}

// AllowToday lifts the limits of the present day for the project at root on this computer, in the name of a person, and returns until when.
func AllowToday(root string, now time.Time) (until time.Time, err error) {
	own, all, err := Limits(root)
	if err != nil {
		return until, err
	}
	for _, day := range []config.Day{own, all} {
		zone, err := day.Location()
		if err != nil {
			return until, err
		}
		if _, end := DayOf(now.In(zone)); !day.None() && end.After(until) {
			until = end
		}
	}
	record, err := trust.Open(root)
	if err != nil || until.IsZero() {
		return until, err
	}
	return until, record.Update(func(r *trust.Record) error {
		r.Allowed = until.UTC()
		return nil
	})
}

// allowedUntil is until when the person has allowed agents whatever the limits of a day say.
func allowedUntil(root string) (time.Time, error) {
	record, err := trust.Open(root)
	if err != nil {
		return time.Time{}, err
	}
	r, _, err := record.Record()
	return r.Allowed, err
}
