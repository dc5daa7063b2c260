package jsonx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Fault is one mistake in a file: where it stands, what is wrong, and the way out.
type Fault struct {
	Pointer string // RFC 6901, as /research/phases/0/mode; "" for the file as a whole
	Line    int    // from 1
	Problem string
	Remedy  string
}

// String is the fault in a line, with its place and its remedy.
func (f Fault) String() string {
	where := fmt.Sprintf("line %d", f.Line)
	if f.Pointer != "" {
		where = fmt.Sprintf("%s (line %d)", f.Pointer, f.Line)
	}
	return where + ": " + f.Problem + "; " + f.Remedy
}

// Faults are all mistakes of a file, by line.
type Faults []Fault

// shown is how many faults one message has.
const shown = 20

// Error has a line for each fault, of at most 20.
func (f Faults) Error() string {
	var lines []string
	for i, one := range f {
		if i == shown {
			lines = append(lines, fmt.Sprintf("and %d more", len(f)-shown))
			break
		}
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// OrNil returns the faults as an error, sorted, nil when there are none.
func (f Faults) OrNil() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return f
}
