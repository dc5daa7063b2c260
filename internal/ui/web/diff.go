package web

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/ui/web/patch"
)

// What a page shows of a patch: a file with more lines or bytes is folded, and so is what comes after that many lines altogether.
const (
	maxPatch  = 16 << 20
	fileLines = 600
	fileSize  = 256 << 10
	pageLines = 1200
)

// A diff is a patch on a page.
type diff struct {
	Files          []diffFile
	Added, Removed int
	Cut            bool   // the patch is longer than maxPatch
	Hidden         string // the notice about hidden characters, "" for none
	Subject        Subject
	Draft          Draft
	Stale          []Draft
	Open           string // the line that is commented now: index of the file, and key
	Reviewing      bool
	Head           *status.Head // that HEAD has moved, nil where it has not
}

// A diffFile is a file of a patch on a page.
type diffFile struct {
	patch.File
	Index  int
	Folded bool
	Commit bool    // it differs between the commits of when the task was created and of now
	Rows   [][]row // of each hunk
}

// A row is a line of a patch on a page.
type row struct {
	patch.Line
	HTML    template.HTML
	ID      string // in the page
	Class   string
	Sign    string
	Number  int
	Comment *Comment
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

// A read patch is one that was read, and of which some files are coloured. That of a submission does not change.
type readPatch struct {
	files  []patch.File
	cut    bool
	hidden string

	mu       sync.Mutex
	coloured map[int][][]template.HTML // by the index of the file
}

// html is the lines of a file as coloured HTML.
func (p *readPatch) html(i int) [][]template.HTML {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.coloured[i] == nil {
		p.coloured[i] = patch.Highlight(&p.files[i])
	}
	return p.coloured[i]
}

// patches are the patches of submissions that were read last.
type patches struct {
	mu  sync.Mutex
	all map[[2]string]*readPatch // by the trees that they compare
}

// maxPatches bounds how many patches are cached, each of at most maxPatch.
const maxPatches = 4

// patch reads the patch of a task, or takes the one of the same submission that was read before.
func (s *Site) patch(ctx context.Context, e *engine.Engine) (*readPatch, error) {
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	var trees [2]string
	if now.Task.Submitted() {
		trees = [2]string{now.Task.BaseTree, now.Task.Submission.Tree}
	}
	s.patches.mu.Lock()
	p := s.patches.all[trees]
	s.patches.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p = &readPatch{coloured: map[int][][]template.HTML{}}
	var text limited
	var hidden handover.Hidden
	err = status.WriteDiff(ctx, e, io.MultiWriter(&text, &hidden))
	if p.cut = errors.Is(err, errLong); err != nil && !p.cut {
		return nil, err
	}
	p.files, p.hidden = patch.Parse(text.String()), hidden.Notice()
	after, err := e.View()
	if err != nil {
		return nil, err
	}
	if trees[1] != "" && !p.cut && after.Task.Seq == now.Task.Seq {
		s.patches.mu.Lock()
		defer s.patches.mu.Unlock()
		if len(s.patches.all) >= maxPatches {
			clear(s.patches.all)
		}
		s.patches.all[trees] = p
	}
	return p, nil
}

// diff shows the patch of a task, and the comments on its lines.
func (s *Site) diff(r *http.Request, e *engine.Engine, d *status.Detail) (*diff, error) {
	read, err := s.patch(r.Context(), e)
	if err != nil {
		return nil, err
	}
	v := &diff{Open: r.URL.Query().Get("comment"), Cut: read.cut, Hidden: read.hidden, Head: d.Head}
	if d.Submission != nil && d.TaskID != "" {
		v.Subject = Subject{Branch: d.Branch, Task: d.TaskID, Submission: d.Submission.ID}
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
	v.choose(read, r.URL.Query().Get("file"))
	return v, nil
}

// choose decides what is shown of each file, and of which file all is: the one of that index.
func (v *diff) choose(read *readPatch, whole string) {
	committed := map[string]bool{} // by the names that patch.Parse gives the files
	if v.Head != nil {
		for _, path := range v.Head.Paths {
			committed[safetext.Mark(path)] = true
		}
	}
	lines := 0
	for i, f := range read.files {
		v.Added, v.Removed = v.Added+f.Added, v.Removed+f.Removed
		one := diffFile{File: f, Index: i, Commit: committed[f.Path]}
		sum, size := 0, 0
		for _, h := range f.Hunks {
			sum += len(h.Lines)
			for _, l := range h.Lines {
				size += len(l.Text)
			}
		}
		if one.Folded = strconv.Itoa(i) != whole && (sum > fileLines || lines+sum > pageLines || size > fileSize); !one.Folded {
			lines += sum
			one.rows(read.html(i), v)
		}
		v.Files = append(v.Files, one)
	}
}

// classes are those of the kinds of lines.
var classes = map[byte]string{'+': "add", '-': "del", '\\': "dim"}

func (f *diffFile) rows(html [][]template.HTML, v *diff) {
	for i, h := range f.Hunks {
		rows := make([]row, len(h.Lines))
		for j, l := range h.Lines {
			l.Text = safetext.Mark(l.Text)
			rows[j] = row{Line: l, HTML: html[i][j], Class: classes[l.Kind], Sign: string(rune(l.Kind)), Number: max(l.Old, l.New)}
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
