// Package format puts small things into text for people: durations, sizes, counts, margins, and lines of a given width.
package format

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Duration is a duration in the largest unit that says something.
func Duration(d time.Duration) string {
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

// Age is how long ago something was.
func Age(at time.Time) string { return Duration(max(time.Second, time.Since(at))) }

// Clock is a time of day where the person is.
func Clock(at time.Time) string { return at.Local().Format(time.TimeOnly) }

// Date is a time where the person is, with its day.
func Date(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }

// Count is n with its noun in the right number.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// InARow is how often in a row something has happened, to stand after what that was: "" for once, or " 3 times in a row".
func InARow(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times in a row", n)
}

// Size is a number of bytes in the unit that says something.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return Count(int(n), "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// Pad is a text of at least n characters.
func Pad(text string, n int) string {
	for len([]rune(text)) < n {
		text += " "
	}
	return text
}

// Indent puts every line of a text behind a margin, without an empty last one.
func Indent(text, margin string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if lines[i] = margin + l; l == "" {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// IndentRest is a text whose further lines are indented below the first.
func IndentRest(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return first
	}
	return fmt.Sprintf("%s\n%s", first, Indent(rest, "  "))
}

// Line makes one line of a text, clean.
func Line(text string) string { return safetext.Line(text) }

// Head is the first lines of a text, at most n, and whether there are more.
func Head(text string, n int) (string, bool) {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n"), false
	}
	return strings.Join(lines[:n], "\n"), true
}

// Clip shortens a line to n characters.
func Clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// OneLine makes one line of a text and shortens it to n characters.
func OneLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// FromTree is the process tree of a decision, to stand behind it.
func FromTree(tree string) string {
	if tree == "" {
		return ""
	}
	return "   (" + tree + ")"
}

// ShellWord quotes a text as one word of any POSIX shell.
func ShellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
