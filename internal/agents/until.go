package agents

import (
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

var (
	// resets_at: 1764003600, limit reached|1764003600
	untilEpoch = safetext.Lazily(`(?i)(?:reset\w*\W{1,4}|\|)(\d{10}(?:\d{3})?)\b`)
	// 2026-11-21T01:31:00Z
	untilStamp = safetext.Lazily(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)`)
	// try again in 2 days 3 hours, reset after 18h31m10s, retry in 34.07s, retry-after: 3600
	untilSpan = safetext.Lazily(`(?i)(?:again|resets?|retry\w*|available)[ -](?:in|after)\W{1,3}((?:\d+(?:\.\d+)?\s*[a-z]*[\s,]*(?:and )?)+)`)
	spanPart  = safetext.Lazily(`(?i)(\d+(?:\.\d+)?)\s*([a-z]*)`)
	// try again at 1:31 AM, resets Nov 21st, 2026 3pm (Europe/Berlin)
	untilClock = safetext.Lazily(`(?i)(?:again|resets?|available)(?: at| on)? (?:([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (?:at )?(?:(\d{4}),? )?(?:at )?)?` +
		`(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?(?: \(([\w/+-]+)\))?`)
)

// until returns when a limit ends according to an error's text, zero when the text does not say.
func until(text string, at time.Time) time.Time {
	if m := untilEpoch().FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64)
		return epoch(n)
	}
	if m := untilStamp().FindString(text); m != "" {
		if t, err := time.Parse(time.RFC3339, strings.Replace(m, " ", "T", 1)); err == nil {
			return t
		}
	}
	if m := untilSpan().FindStringSubmatch(text); m != nil {
		if d := span(m[1]); d > 0 {
			return at.Add(d)
		}
	}
	if m := untilClock().FindStringSubmatch(text); m != nil {
		return clock(m, at)
	}
	return time.Time{}
}

// epoch returns a time from seconds or milliseconds since 1970, zero for an implausible number.
func epoch(n float64) time.Time {
	switch {
	case n <= 0 || n > 1e14:
		return time.Time{}
	case n > 1e11:
		return time.UnixMilli(int64(n))
	}
	return time.Unix(int64(n), 0)
}

// span returns a duration in words or letters. A bare number is seconds, as in the header
// Retry-After.
func span(text string) time.Duration {
	units := []struct {
		prefix string
		unit   time.Duration
	}{{"ms", time.Millisecond}, {"mil", time.Millisecond}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour},
		{"w", 7 * 24 * time.Hour}, {"s", time.Second}, {"", time.Second}}
	var sum time.Duration
	for _, m := range spanPart().FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || n > 1e6 {
			return 0
		}
		for _, u := range units {
			if strings.HasPrefix(strings.ToLower(m[2]), u.prefix) {
				sum += time.Duration(n * float64(u.unit))
				break
			}
		}
	}
	return sum
}

// clock returns the next time after at that matches a clock time of untilClock.
func clock(m []string, at time.Time) time.Time {
	zone := at.Location()
	if m[7] != "" {
		named, err := time.LoadLocation(m[7])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}
	at = at.In(zone)
	hour, _ := strconv.Atoi(m[4])
	minute, _ := strconv.Atoi(m[5])
	if hour < 1 || hour > 12 || minute > 59 {
		return time.Time{}
	}
	hour %= 12
	if strings.EqualFold(m[6], "p") {
		hour += 12
	}
	if m[1] == "" {
		t := time.Date(at.Year(), at.Month(), at.Day(), hour, minute, 0, 0, zone)
		if !t.After(at) {
			t = time.Date(at.Year(), at.Month(), at.Day()+1, hour, minute, 0, 0, zone)
		}
		return t
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:3]))
	if err != nil {
		return time.Time{}
	}
	day, _ := strconv.Atoi(m[2])
	year := at.Year()
	if m[3] != "" {
		year, _ = strconv.Atoi(m[3])
	}
	t := time.Date(year, month.Month(), day, hour, minute, 0, 0, zone)
	if m[3] == "" && t.Before(at.AddDate(0, -6, 0)) {
		t = t.AddDate(1, 0, 0) // a date in January, reported in December
	}
	return t
}
