package main

import "fmt"

// A footer are the live lines at the bottom of a terminal: they are drawn anew, and what else is printed goes above them.
type footer struct {
	on    *app
	drawn []int // the columns of the lines that stand there
}

// draw shows lines in the place of those that stand there, as many as the terminal has room for.
func (f *footer) draw(rows []string, colours []string) {
	f.erase()
	columns, high := f.on.size()
	for i, text := range rows {
		if more := len(rows) - i; i == high-2 && more > 1 {
			text, rows = fmt.Sprintf("  … %d more", more), nil
		}
		text = fitted(text, min(widest, columns-1))
		f.on.say("%s\n", f.on.paint(colours[i], text))
		f.drawn = append(f.drawn, columnsOf(text))
		if rows == nil {
			break
		}
	}
}

// erase takes the lines away.
func (f *footer) erase() {
	if len(f.drawn) == 0 {
		return
	}
	// A terminal that has become narrower since has broken the lines.
	columns, lines := f.on.width(), 0
	for _, n := range f.drawn {
		lines += max(1, (n+columns-1)/columns)
	}
	// From the first column: a terminal echoes what is typed, be it ^C.
	fmt.Fprintf(f.on.out, "\r\x1b[%dA\x1b[J", lines)
	f.drawn = nil
}

// widest is how many columns a live line has at most.
const widest = 118
