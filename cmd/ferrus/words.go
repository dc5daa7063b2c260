package main

import (
	"fmt"
	"time"
)

// span is a duration in the largest unit that says something.
func span(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}

// age is how long ago something was.
func age(at time.Time) string { return span(max(time.Second, time.Since(at))) }

// clock is a time of day where the person is.
func clock(at time.Time) string { return at.Local().Format(time.TimeOnly) }

// count is n with its noun in the right number.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
