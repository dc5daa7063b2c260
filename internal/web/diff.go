package web

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/web/drafts"
	"github.com/ferrus-go/ferrus/internal/web/patch"
)

// What a page shows of a patch: a file with more lines is folded, and so is what comes after that many lines altogether. Only
// the first lines are coloured.
const (
	maxPatch   = 16 << 20
	fileLines  = 600
	pageLines  = 2000
	colourSize = 48 << 10
)

// A diff is a patch on a page.
type diff struct {
	Files          []diffFile
	Added, Removed int
	Cut            bool // the patch is longer than maxPatch
	Subject        drafts.Subject
	Draft          drafts.Draft
	Stale          []drafts.Draft
	Open           string // the line that is commented now: index of the file, and key
	Reviewing      bool
}

// A diffFile is a file of a patch on a page.
type diffFile struct {
	patch.File
	Index  int
	Folded bool
	Rows   [][]row // of each hunk
}

// A row is a line of a patch on a page.
type row struct {
	patch.Line
	HTML    template.HTML
	ID      string // in the page
	Comment *drafts.Comment
	Open    bool // a comment is written about it now
}

// errLong ends a patch that is too long.
var errLong = errors.New("the patch is too long")

// A limited writer keeps the first bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxPatch {
		return 0, errLong
	}
	return l.Buffer.Write(p)
}

// diff reads the patch of a task, and the comments on its lines.
func (s *Site) diff(r *http.Request, e *engine.Engine, d *status.Detail) (*diff, error) {
	var text limited
	v := &diff{Open: r.URL.Query().Get("comment")}
	if err := status.WriteDiff(r.Context(), e, &text); errors.Is(err, errLong) {
		v.Cut = true
	} else if err != nil {
		return nil, err
	}
	if d.Submission != nil && d.TaskID != "" {
		v.Subject = drafts.Subject{Branch: d.Branch, Task: d.TaskID, Submission: d.Submission.ID}
		var err error
		if v.Draft, err = s.drafts.Read(v.Subject); err != nil {
			return nil, err
		}
		if v.Stale, err = s.drafts.Stale(v.Subject); err != nil {
			return nil, err
		}
		for _, a := range d.Acts {
			v.Reviewing = v.Reviewing || a.Name == "reject"
		}
	}
	v.lay(patch.Parse(text.String()), r.URL.Query().Get("file"))
	return v, nil
}

// lay decides what is shown of each file, and of which file all is: the one of that index.
func (v *diff) lay(files []patch.File, whole string) {
	lines, coloured := 0, 0
	for i, f := range files {
		v.Added, v.Removed = v.Added+f.Added, v.Removed+f.Removed
		one := diffFile{File: f, Index: i}
		sum, size := 0, 0
		for _, h := range f.Hunks {
			sum += len(h.Lines)
			for _, l := range h.Lines {
				size += len(l.Text)
			}
		}
		if one.Folded = strconv.Itoa(i) != whole && (sum > fileLines || lines+sum > pageLines || size > 256<<10); !one.Folded {
			lines += sum
			show := patch.Plain
			if coloured+size <= colourSize {
				coloured += size
				show = patch.Highlight
			}
			one.rows(show(&f), v)
		}
		v.Files = append(v.Files, one)
	}
}

func (f *diffFile) rows(html [][]template.HTML, v *diff) {
	for i, h := range f.Hunks {
		rows := make([]row, len(h.Lines))
		for j, l := range h.Lines {
			rows[j] = row{Line: l, HTML: html[i][j]}
			key := l.Key()
			if key == "" {
				continue
			}
			rows[j].ID = strconv.Itoa(f.Index) + "-" + key
			rows[j].Open = rows[j].ID == v.Open
			for k, c := range v.Draft.Comments {
				if c.Path == f.Path && c.Line == key {
					rows[j].Comment = &v.Draft.Comments[k]
				}
			}
		}
		f.Rows = append(f.Rows, rows)
	}
}
