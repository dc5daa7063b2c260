package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/format"
)

// A screen is what a terminal shows of what is written to it, of the sequences that ferrus uses. Like most terminals it
// breaks the lines anew when its window gets another width.
type screen struct {
	columns, rows int
	lines         []row // all that was ever shown, the last rows of which are the window
	at, column    int   // of the cursor; column may be columns, where the next character wraps
	rest          string
}

type row struct {
	cells   []rune // 0 is the second half of a wide character
	wrapped bool   // it goes on in the next one
}

func newScreen(columns, rows int) *screen {
	return &screen{columns: columns, rows: rows, lines: []row{{}}}
}

// top is the first line of the window.
func (s *screen) top() int { return max(0, len(s.lines)-max(s.rows, 1)) }

// String is what stands in the window, without blanks at the end of lines.
func (s *screen) String() string {
	var text []string
	for _, r := range s.lines[s.top():] {
		text = append(text, r.text())
	}
	return strings.Join(text, "\n")
}

func (r row) text() string {
	return strings.TrimRight(strings.ReplaceAll(string(r.cells), "\x00", ""), " ")
}

var control = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)

func (s *screen) write(text []byte) {
	s.rest += string(text)
	for s.rest != "" {
		if s.rest[0] == 0x1b {
			found := control.FindStringSubmatch(s.rest)
			if found == nil {
				return // the rest of it is still to come
			}
			s.rest = s.rest[len(found[0]):]
			s.obey(found[1], found[2])
			continue
		}
		if !utf8.FullRuneInString(s.rest) {
			return
		}
		r, n := utf8.DecodeRuneInString(s.rest)
		s.rest = s.rest[n:]
		s.put(r)
	}
}

func (s *screen) put(r rune) {
	switch {
	case s.columns == 0: // its size is not known, and nobody looks at it
	case r == '\r':
		s.column = 0
	case r == '\n':
		s.down()
	case r == '\b':
		s.column = max(0, min(s.column, s.columns-1)-1)
	case r >= ' ':
		wide := format.RuneWidth(r)
		if s.column+wide > s.columns {
			s.lines[s.at].wrapped = true
			s.down()
			s.column = 0
		}
		line := &s.lines[s.at]
		for len(line.cells) < s.column+wide {
			line.cells = append(line.cells, ' ')
		}
		line.cells[s.column] = r
		if wide == 2 {
			line.cells[s.column+1] = 0
		}
		s.column += wide
	}
}

func (s *screen) down() {
	if s.at++; s.at == len(s.lines) {
		s.lines = append(s.lines, row{})
	}
}

func (s *screen) obey(params, what string) {
	n, err := strconv.Atoi(params)
	if err != nil {
		n = 1
	}
	switch what {
	case "A":
		s.at = max(s.top(), s.at-n)
	case "H":
		s.at, s.column = s.top(), 0
	case "K":
		line := &s.lines[s.at]
		line.cells, line.wrapped = line.cells[:min(len(line.cells), s.column)], false
	case "J":
		s.obey("", "K")
		for i := s.at + 1; i < len(s.lines); i++ {
			s.lines[i] = row{}
		}
	}
}

// resize breaks the lines anew.
func (s *screen) resize(columns, rows int) {
	var lines []row
	at, column, start := 0, 0, 0
	for start < len(s.lines) {
		var whole []rune
		cursor, end := -1, start
		for ; ; end++ {
			if end == s.at {
				cursor = len(whole) + s.column
			}
			whole = append(whole, s.lines[end].cells...)
			if !s.lines[end].wrapped {
				break
			}
		}
		for len(whole) > 0 && whole[len(whole)-1] == ' ' {
			whole = whole[:len(whole)-1]
		}
		if cursor >= 0 {
			at, column = len(lines)+cursor/columns, cursor%columns
		}
		for len(whole) > columns {
			lines = append(lines, row{slices.Clone(whole[:columns]), true})
			whole = whole[columns:]
		}
		lines = append(lines, row{slices.Clone(whole), false})
		start = end + 1
	}
	for len(lines) <= at {
		lines = append(lines, row{})
	}
	// Blank lines below the cursor go first where the window gets lower.
	for len(lines) > at+1 && len(lines) > rows && len(lines[len(lines)-1].cells) == 0 {
		lines = lines[:len(lines)-1]
	}
	s.lines, s.at, s.column, s.columns, s.rows = lines, at, column, columns, rows
}
