package format

import (
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Frame puts every line of such a text behind a margin and the bar, without an empty last one.
func Frame(text, margin string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(margin+Bar+l, " ")
	}
	return strings.Join(lines, "\n")
}

// Margin is a text for an argument of say: what follows its first line is framed.
func Margin(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return first
	}
	return first + "\n" + Frame(rest, "  ")
}

// Bar stands before each line of a text that an agent, a check or a file of the project wrote, so that no line of it can be
// taken for one of ferrus's own.
const Bar = "│ "

// Wrap breaks lines that are longer than a terminal is wide, and continues them behind the bar or a mark: a long line must not
// look like two. Escape sequences of ours take no column.
func Wrap(text string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		margin := barred().FindString(line)
		if margin == "" {
			margin = "    … "
		}
		for at := 0; ; at = utf8.RuneCountInString(margin) {
			n := fitting(line, at, columns)
			b.WriteString(line[:n])
			if line = line[n:]; line == "" || line == "\n" {
				b.WriteString(line)
				break
			}
			b.WriteString("\n" + margin)
		}
	}
	return b.String()
}

// fitting is how many bytes of a line fit into a terminal's columns, of which at are taken: to the end of a word, if that is
// not far, and one character at least.
func fitting(line string, at, columns int) int {
	if at+len(line) <= columns && !strings.Contains(line, "\t") { // no character takes more columns than bytes
		return len(line)
	}
	space, half := 0, (at+columns)/2
	for i := 0; i < len(line); {
		if line[i] == '\x1b' {
			if seq := colourOnly().FindString(line[i:]); seq != "" {
				i += len(seq)
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		wide := RuneWidth(r)
		if r == '\t' {
			wide = 8 - at%8
		}
		switch {
		case r == '\n':
			return i
		case at+wide > columns && space > 0:
			return space
		case at+wide > columns && i > 0:
			return i
		}
		at, i = at+wide, i+n
		if r == ' ' && at > half {
			space = i
		}
	}
	return len(line)
}

// RuneWidth is how many columns a character takes at most in a terminal.
func RuneWidth(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2300 && r <= 0x23ff, r >= 0x2600 && r <= 0x27bf, r >= 0x2b00 && r <= 0x2bff, r >= 0x2e80 && r <= 0xa4cf,
		r >= 0xa960 && r <= 0xa97f, r >= 0xac00 && r <= 0xd7ff, r >= 0xf900 && r <= 0xfaff, r >= 0xfe10 && r <= 0xfe6f,
		r >= 0xff00 && r <= 0xffef, r >= 0x10000:
		return 2
	}
	return 1
}

// Width is how many columns a text takes at most in a terminal.
func Width(text string) (n int) {
	for _, r := range text {
		n += RuneWidth(r)
	}
	return n
}

// Fit shortens a line to n columns of a terminal.
func Fit(text string, n int) string {
	if Width(text) <= n {
		return text
	}
	at := 0
	for i, r := range text {
		if at += RuneWidth(r); at > n-1 {
			return text[:i] + "…"
		}
	}
	return text
}

var (
	colourOnly = safetext.Lazily(`^\x1b\[[0-9;]*m`)
	barred     = safetext.Lazily(`^ *│ `)
)
