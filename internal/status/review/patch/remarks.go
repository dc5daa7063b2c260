package patch

import (
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// A Remark is what a text says about a line of a file.
type Remark struct {
	Path    string
	Line    int  // its number, from 1
	Removed bool // the number is that of the old file
	Text    string
}

// where is a line of a text that names a line of a file, as compilers write it, perhaps in a list.
var where = safetext.Lazily("^(?:[-*] +|[0-9]+[.)] +)?[`*]{0,3}(.+?):([0-9]{1,7})(?:[:-][0-9]+)?[`*]{0,3}( \\(removed\\))?(?:(?::[`*]{0,3}| +[-–—])(?: +(.*))?)?$")

// Remarks returns what a text says about lines of files: "PATH:LINE: what" up to an empty line, or "PATH:LINE" alone, after which a
// quotation (>) may stand, up to the next one. named reports whether a path is that of a file; other lines are no remarks.
func Remarks(text string, named func(path string) bool) (list []Remark) {
	open, alone, quoted := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := where().FindStringSubmatch(line); m != nil && named(m[1]) {
			number, _ := strconv.Atoi(m[2])
			list = append(list, Remark{m[1], number, m[3] != "", m[4]})
			open, alone, quoted = true, m[4] == "", m[4] == ""
			continue
		}
		if quoted = quoted && strings.HasPrefix(line, ">"); quoted || !open {
			continue
		}
		if line == "" && !alone {
			open = false
			continue
		}
		list[len(list)-1].Text += "\n" + line
	}
	for i := range list {
		list[i].Text = strings.TrimSpace(list[i].Text)
	}
	return list
}

// Now returns where a line of the old file is in the new one. If it has been changed or removed, it is the line that follows in the new
// file.
func (f *File) Now(line int) (now int, changed bool) {
	more := 0 // how many lines the new file has more, up to here
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			old := l.Old
			if l.Kind == '+' {
				old = l.New - more
			}
			switch {
			case l.Kind == '\\':
			case old > line:
				return line + more, false
			case l.Kind == '+':
				more++
			case l.Old == line:
				return line + more, l.Kind == '-'
			case l.Kind == '-':
				more--
			}
			if l.Kind == ' ' {
				more = l.New - l.Old
			}
		}
	}
	return line + more, false
}
