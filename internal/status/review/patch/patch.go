// Package patch reads a patch as git writes it: files, hunks and lines with their numbers, for what shows them. What is
// no line of a patch becomes a note, so that nothing of the text is lost.
package patch

import (
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// A File is what a patch changes of one file.
type File struct {
	Path           string // the new one; the old one of a file that is gone
	Was            string // the old path of a file that was renamed
	ID             string // of its new content, zeros for a file that is gone; "" where its content is the same
	Notes          []string
	Hunks          []Hunk
	Added, Removed int // lines
}

// A Hunk is a part of a file.
type Hunk struct {
	Header string
	Lines  []Line
}

// A Line is one line of a hunk.
type Line struct {
	Kind byte // ' ', '+', '-', or '\\' for a remark of git
	Old  int  // its number in the old file, 0 for an added one
	New  int  // likewise in the new file
	Text string
}

// Key names the line in its file: n12 of the new file, o12 of the old one; "" for a remark.
func (l Line) Key() string {
	switch l.Kind {
	case '-':
		return "o" + strconv.Itoa(l.Old)
	case '+', ' ':
		return "n" + strconv.Itoa(l.New)
	}
	return ""
}

// Parse reads a patch. Hidden characters of names, notes and headers become marks (see package safetext); the lines of hunks are as they are.
func Parse(text string) []File {
	var p parser
	for line := range strings.Lines(text) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	for i := range p.files {
		f := &p.files[i]
		f.Path, f.Was = safetext.Mark(f.Path), safetext.Mark(f.Was)
		for j := range f.Notes {
			f.Notes[j] = safetext.Mark(f.Notes[j])
		}
		for j := range f.Hunks {
			f.Hunks[j].Header = safetext.Mark(f.Hunks[j].Header)
		}
	}
	return p.files
}

// A parser knows how many lines of a hunk are still to come: a line of a file may look like a header.
type parser struct {
	files            []File
	oldLeft, newLeft int
	old, new         int // numbers of the next lines
}

func (p *parser) line(text string) {
	if p.oldLeft > 0 || p.newLeft > 0 || strings.HasPrefix(text, `\`) && len(p.files) > 0 && len(p.file().Hunks) > 0 {
		p.content(text)
		return
	}
	if rest, ok := strings.CutPrefix(text, "diff --git "); ok {
		p.files = append(p.files, File{Path: second(rest)})
		return
	}
	if len(p.files) == 0 {
		p.files = append(p.files, File{})
	}
	f := p.file()
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "@@":
		if p.hunk(rest) {
			f.Hunks = append(f.Hunks, Hunk{Header: text})
			return
		}
		f.Notes = append(f.Notes, text)
	case "---", "+++":
		if path := name(rest); path != "" {
			f.Path = path
		}
	case "index":
		_, id, _ := strings.Cut(rest, "..")
		f.ID, _, _ = strings.Cut(id, " ")
	case "rename":
		if from, ok := strings.CutPrefix(rest, "from "); ok {
			f.Was = unquote(from)
		} else if to, ok := strings.CutPrefix(rest, "to "); ok {
			f.Path = unquote(to)
		}
	default:
		if text != "" {
			f.Notes = append(f.Notes, text)
		}
	}
}

func (p *parser) file() *File { return &p.files[len(p.files)-1] }

// hunk reads the ranges of a header.
func (p *parser) hunk(ranges string) bool {
	fields := strings.Fields(ranges)
	if len(fields) < 3 || fields[2] != "@@" {
		return false
	}
	var ok, okNew bool
	p.old, p.oldLeft, ok = span(fields[0], "-")
	p.new, p.newLeft, okNew = span(fields[1], "+")
	if !ok || !okNew {
		p.oldLeft, p.newLeft = 0, 0
		return false
	}
	return true
}

// span reads a range, such as -3,7 or +1.
func span(text, sign string) (first, count int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	from, many, two := strings.Cut(text, ",")
	first, err := strconv.Atoi(from)
	count = 1
	if err == nil && two {
		count, err = strconv.Atoi(many)
	}
	return first, count, ok && err == nil && first >= 0 && count >= 0
}

// content takes a line of a hunk.
func (p *parser) content(text string) {
	f := p.file()
	h := &f.Hunks[len(f.Hunks)-1]
	l := Line{Kind: ' '}
	if text != "" {
		l.Kind, l.Text = text[0], text[1:]
	}
	switch l.Kind {
	case '+':
		f.Added++
	case '-':
		f.Removed++
	case '\\':
	default:
		l.Kind = ' '
	}
	if l.Kind == '-' || l.Kind == ' ' {
		l.Old = p.old
		p.old++
		p.oldLeft--
	}
	if l.Kind == '+' || l.Kind == ' ' {
		l.New = p.new
		p.new++
		p.newLeft--
	}
	h.Lines = append(h.Lines, l)
}

// name is the path in a --- or +++ line, "" for no file.
func name(text string) string {
	text = unquote(strings.TrimSuffix(text, "\t"))
	if text == "/dev/null" {
		return ""
	}
	_, path, ok := strings.Cut(text, "/")
	if !ok {
		return text
	}
	return path
}

// second is the second path of a "diff --git" line: both are the same unless the file was renamed, and then other lines say
// the paths.
func second(text string) string {
	if strings.HasSuffix(text, `"`) {
		if i := strings.LastIndex(strings.TrimSuffix(text, `"`), ` "`); i >= 0 {
			return name(text[i+1:])
		}
	}
	if half := len(text) / 2; len(text)%2 == 1 && text[half] == ' ' {
		return name(text[half+1:])
	}
	if i := strings.LastIndex(text, " b/"); i >= 0 {
		return text[i+3:]
	}
	return text
}

// unquote undoes git's quotes of a path.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	// git writes octal escapes of three digits, as Go does.
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}
