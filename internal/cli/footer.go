package cli

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// A Footer are the live lines at the bottom of a terminal: they are redrawn, and other output goes above them.
type Footer struct {
	On    *App
	drawn []int // the columns of the lines that stand there
}

// Draw shows lines in the place of those that stand there, as many as fit into the terminal.
func (f *Footer) Draw(rows []string, colours []string) {
	f.Erase()
	columns, high := f.On.Size()
	for i, text := range rows {
		if more := len(rows) - i; i == high-2 && more > 1 {
			text, rows = fmt.Sprintf("  … %d more", more), nil
		}
		text = format.Fit(text, min(widest, columns-1))
		f.On.Say("%s\n", f.On.Paint(colours[i], text))
		f.drawn = append(f.drawn, format.Width(text))
		if rows == nil {
			break
		}
	}
}

// Erase takes the lines away.
func (f *Footer) Erase() {
	if len(f.drawn) == 0 {
		return
	}
	// A terminal that has become narrower since has broken the lines.
	columns, lines := f.On.Width(), 0
	for _, n := range f.drawn {
		lines += max(1, (n+columns-1)/columns)
	}
	// From the first column: a terminal echoes what is typed, be it ^C.
	fmt.Fprintf(f.On.Out, "\r\x1b[%dA\x1b[J", lines)
	f.drawn = nil
}

// widest is how many columns a live line has at most.
const widest = 118
