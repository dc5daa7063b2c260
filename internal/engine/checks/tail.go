package checks

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

const (
	feedbackWindow = 64 << 10 // bytes of raw output from which a tail is taken
	maxLine        = 1 << 10  // bytes of one line of feedback
	maxFeedback    = 10 << 10 // bytes of all tails of a run together
	clipped        = " [...] "
)

// lastLines returns the last n lines of last (see [safetext.Output]), each clipped to maxLine.
func lastLines(last *ring, n int) string {
	if n <= 0 {
		return ""
	}
	text := string(last.Bytes())
	if last.lost() > 0 {
		// The first line may be incomplete. It is dropped unless it is the only one.
		if _, whole, found := strings.Cut(text, "\n"); found && whole != "" {
			text = whole
		}
	}
	lines := strings.Split(strings.TrimRight(safetext.Output(text), " \t\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		lines[i] = clip(line)
	}
	return strings.Join(lines, "\n")
}

// clip keeps both ends of a line that is too long: the position of the message differs from tool to
// tool.
func clip(line string) string {
	if len(line) <= maxLine {
		return line
	}
	head := (maxLine - len(clipped)) * 2 / 3
	tail := len(line) - (maxLine - len(clipped) - head)
	for !utf8.RuneStart(line[head]) {
		head--
	}
	for tail < len(line) && !utf8.RuneStart(line[tail]) {
		tail++
	}
	return line[:head] + clipped + line[tail:]
}

// share cuts the tails of commands from the front so that together they have at most max bytes. The
// bytes that a short tail does not need go to the longer ones.
func share(commands []Command, max int) {
	var tails []*string
	for i := range commands {
		tails = append(tails, &commands[i].Tail)
	}
	slices.SortStableFunc(tails, func(a, b *string) int { return cmp.Compare(len(*a), len(*b)) })
	for i, tail := range tails {
		*tail = suffix(*tail, max/(len(tails)-i))
		max -= len(*tail)
	}
}

// suffix returns the longest end of text of at most max bytes that starts with a line. If the last
// line is longer, it starts with a rune.
func suffix(text string, max int) string {
	if len(text) <= max {
		return text
	}
	at := len(text) - max
	if newline := strings.IndexByte(text[at-1:], '\n'); newline >= 0 && at+newline < len(text) {
		return text[at+newline:]
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

const (
	maxShown     = 10      // lines of each command that Output shows
	maxShownText = 2 << 10 // bytes of all of them together
)

// Output returns how commands failed, for a person: each in a line, above the last lines that it printed; "" for none. It is clean, as
// their tails are, and has at most some 2 KiB beside the lines that name the commands, of which it has the first three.
func Output(failed []Command) string {
	failed = slices.Clone(failed[:min(len(failed), 3)])
	for i, c := range failed {
		lines := strings.Split(strings.Trim(c.Tail, "\n"), "\n")
		failed[i].Tail = strings.Join(lines[max(0, len(lines)-maxShown):], "\n")
	}
	share(failed, maxShownText)
	var b strings.Builder
	for _, c := range failed {
		b.WriteString(clip(strings.ReplaceAll(safetext.Output(c.Line), "\n", " ")) + ": " + c.String() + "\n")
		if c.Tail != "" {
			b.WriteString(c.Tail + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
