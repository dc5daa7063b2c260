package main

import (
	"fmt"
	"os"
)

// A footer are the live lines at the bottom of a terminal: they are drawn anew, and what else is printed goes above them.
type footer struct {
	on    *app
	drawn int // lines that stand there
}

// draw shows lines in the place of those that stand there.
func (f *footer) draw(rows []ink) {
	f.erase()
	for _, r := range rows {
		f.on.say("%s\n", r)
	}
	f.drawn = len(rows)
}

// erase takes the lines away.
func (f *footer) erase() {
	if f.drawn > 0 {
		// From the first column: a terminal echoes what is typed, be it ^C.
		fmt.Fprintf(f.on.out, "\r\x1b[%dA\x1b[J", f.drawn)
	}
	f.drawn = 0
}

// widest is how many characters a live line has at most.
const widest = 118

// fit shortens a text to one line of the terminal: one that is wrapped would be two to be erased.
func (f *footer) fit(text string) string {
	width := widest
	if out, ok := f.on.out.(*os.File); ok {
		if n := columns(out); n > 1 {
			width = min(width, n-1)
		}
	}
	return clip(text, width)
}
