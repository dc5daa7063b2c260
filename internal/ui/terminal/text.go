package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// The styles. Each adds to what a word, a mark or the place says already: without colours nothing is lost.
var (
	plain  = lipgloss.NewStyle()
	dim    = plain.Faint(true)
	bold   = plain.Bold(true)
	marked = plain.Reverse(true)
	red    = plain.Foreground(lipgloss.Red)
	green  = plain.Foreground(lipgloss.Green)
	yellow = plain.Foreground(lipgloss.Yellow)
	cyan   = plain.Foreground(lipgloss.Cyan)
	blue   = plain.Foreground(lipgloss.Blue)
	violet = plain.Foreground(lipgloss.Magenta)
	brand  = plain.Bold(true).Foreground(lipgloss.BrightRed)
)

// line is a text of others as one line that a terminal may show.
func line(text string) string { return safetext.Line(text) }

// rowsOf are the lines of a text of others.
func rowsOf(text string) []string {
	text = strings.TrimRight(safetext.Mark(text), "\n")
	if text == "" {
		return nil
	}
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		rows[i] = untabbed(row)
	}
	return rows
}

// untabbed puts blanks in place of tabs.
func untabbed(row string) string {
	if !strings.Contains(row, "\t") {
		return row
	}
	const stop = 4
	var b strings.Builder
	at := 0
	for piece := range strings.SplitAfterSeq(row, "\t") {
		text, tab := strings.CutSuffix(piece, "\t")
		b.WriteString(text)
		at += ansi.StringWidth(text)
		if tab {
			n := stop - at%stop
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
	}
	return b.String()
}

// clip shortens a line to n columns, and says so by its last one.
func clip(text string, n int) string {
	if n <= 0 {
		return ""
	}
	return ansi.Truncate(text, n, "…")
}

// fit clips or fills a line to n columns.
func fit(text string, n int) string {
	text = clip(text, n)
	return text + strings.Repeat(" ", max(0, n-ansi.StringWidth(text)))
}

// wrapped breaks a line at n columns.
func wrapped(text string, n int) []string {
	return strings.Split(ansi.Wrap(text, max(n, 1), ""), "\n")
}

// ends puts two texts at the two ends of a line; the right one gives way.
func ends(left, right string, n int) string {
	room := n - ansi.StringWidth(left) - ansi.StringWidth(right)
	if room < 1 {
		return fit(left, n)
	}
	return left + strings.Repeat(" ", room) + right
}

// over draws a box on rows, at a column.
func over(rows, box []string, top, left int) []string {
	for i, b := range box {
		if at := top + i; at >= 0 && at < len(rows) {
			width := ansi.StringWidth(rows[at])
			rows[at] = ansi.Cut(rows[at], 0, left) + b + ansi.Cut(rows[at], left+ansi.StringWidth(b), width)
		}
	}
	return rows
}

// framed draws a frame with a title about rows that are n columns wide.
func framed(title string, rows []string, n int) []string {
	title = clip(title, n-2)
	box := []string{"┌─ " + bold.Render(title) + " " + strings.Repeat("─", max(0, n-1-ansi.StringWidth(title))) + "┐"}
	for _, row := range rows {
		box = append(box, "│ "+fit(row, n)+" │")
	}
	return append(box, "└"+strings.Repeat("─", n+2)+"┘")
}
