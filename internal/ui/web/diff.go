package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
	"github.com/ferrus-go/ferrus/internal/ui/web/highlight"
)

// A diff is a patch on a page.
type diff struct {
	*review.Review
	Files []diffFile
	Open  string // the line that is commented now: index of the file, and key

	Page  *page
	Link  string // of this view of the patch
	Split bool   // the old file stands beside the new one
	Other string // the view of the same with the other value of Split
}

// Commenting reports whether the person can write about lines now.
func (v *diff) Commenting() bool { return v.Reviewing && v.Page.ReadBy == "" }

// A diffFile is a file of a patch on a page.
type diffFile struct {
	review.File
	Index int
	Diff  *diff
	Rows  [][]row  // of each hunk
	Pairs [][]pair // likewise, where the old file stands beside the new one
}

// Next is the index of the next file, or of this one if it is the last.
func (f diffFile) Next() int { return min(f.Index+1, len(f.Diff.Files)-1) }

// A pair is what stands beside each other: a removed line and the one in its place, or one line twice. One of them may be nil.
type pair struct{ Old, New *row }

// A half is a side of a pair, of which the row may be nil.
type half struct {
	Row    *row
	Number int
	ID     string // of the line in the page, "" where it is that of the other side
}

// Left is the side of the old file.
func (p pair) Left() half {
	switch {
	case p.Old == nil:
		return half{}
	case p.Old == p.New:
		return half{Row: p.Old, Number: p.Old.Old}
	}
	return half{p.Old, p.Old.Old, p.Old.ID}
}

// Right is the side of the new file.
func (p pair) Right() half {
	if p.New == nil {
		return half{}
	}
	return half{p.New, p.New.New, p.New.ID}
}

// A row is a line of a patch on a page.
type row struct {
	patch.Line
	HTML    template.HTML
	ID      string // in the page
	Class   string
	Sign    string
	Number  int
	In      *diffFile
	Href    string          // where a comment is written about it, "" where none can be
	Said    []review.Remark // of the last rejection about it
	Comment *review.Comment
	Open    bool // a comment is written about it now
}

// diff shows the patch of a task, and the comments on its lines. link is that of the page of the task.
func (s *Site) diff(r *http.Request, e *engine.Engine, d *status.Detail, p *page, link string) (*diff, error) {
	q := r.URL.Query()
	read, err := s.reviews.Read(r.Context(), e, d, q.Get("since"), q.Get("file"))
	if err != nil {
		return nil, err
	}
	v := &diff{Review: read, Page: p, Open: q.Get("comment"), Split: q.Get("split") != "", Link: link + "?view=diff"}
	if q.Get("since") != "" && v.Since == nil {
		return nil, errNotFound
	}
	if v.Since != nil {
		v.Link += "&since=" + url.QueryEscape(v.Since.ID)
	}
	if v.Other = v.Link + "&split=1"; v.Split {
		v.Link, v.Other = v.Other, v.Link
	}
	v.fill()
	return v, nil
}

// fill draws the files that are not folded.
func (v *diff) fill() {
	for i, f := range v.Review.Files {
		one := diffFile{File: f, Index: i, Diff: v}
		if !f.Folded {
			one.rows(v.Drawn(i, func(f *patch.File) any { return highlight.Lines(f) }).([][]template.HTML))
		}
		v.Files = append(v.Files, one)
	}
}

// classes are those of the kinds of lines.
var classes = map[byte]string{'+': "add", '-': "del", '\\': "dim"}

// rows are the lines of the file with the comments on them.
func (f *diffFile) rows(html [][]template.HTML) {
	v := f.Diff
	for i, h := range f.Hunks {
		rows := make([]row, len(h.Lines))
		for j, l := range h.Lines {
			l.Text = safetext.Mark(l.Text)
			rows[j] = row{Line: l, HTML: html[i][j], Class: classes[l.Kind], Sign: string(rune(l.Kind)), Number: max(l.Old, l.New), In: f}
			key := l.Key()
			rows[j].Said = f.About(key)
			if key == "" || l.Kind == '-' && v.Since != nil { // which is a line of another round, and none of what was there before the task
				continue
			}
			if v.Subject.Submission == "" { // it is only looked at, perhaps beside another
				continue
			}
			id := strconv.Itoa(f.Index) + "-" + key
			rows[j].ID, rows[j].Open = id, id == v.Open
			if v.Commenting() {
				rows[j].Href = fmt.Sprintf("%s&file=%d&comment=%s#L%s", v.Link, f.Index, id, id)
			}
			rows[j].Comment = v.Draft.CommentOn(f.Path, key)
		}
		if f.Rows = append(f.Rows, rows); v.Split {
			f.Pairs = append(f.Pairs, pairs(h.Lines, rows))
		}
	}
}

// pairs are the rows of a hunk side by side.
func pairs(lines []patch.Line, rows []row) (list []pair) {
	at := func(i int) *row {
		if i < 0 {
			return nil
		}
		return &rows[i]
	}
	for _, p := range patch.Pairs(lines) {
		list = append(list, pair{at(p[0]), at(p[1])})
	}
	return list
}
