package register

import "fmt"

// A Fault is why nothing was written: a file that must not be touched as it is. Its text names the file and, where one
// is meant, the line.
type Fault struct {
	File    string // as it is to be shown
	Line    int    // from 1; 0 when no line is meant
	Message string
	Remedy  string
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
}
