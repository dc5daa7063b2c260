package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

	Page   *page
	Link   string         // of this view of the patch
	Rounds []status.Round // before the present submission
	Since  *status.Round  // since which the changes are shown, nil for all
	Moved  bool           // the task was moved onto other files of the project after that round
	Split  bool           // the old file stands beside the new one
	Other  string         // the view of the same with the other value of Split
	Marked int            // how many files the person has viewed
}

// Commenting reports whether the person can write about lines now.
func (v *diff) Commenting() bool { return v.Reviewing && v.Page.ReadBy == "" }

// A diffFile is a file of a patch on a page.
type diffFile struct {
	patch.File
	Index  int
	Diff   *diff
	Folded bool
	Made   bool     // a program has written it, as its name tells
	Viewed bool     // by the person, as it is now
	Commit bool     // it differs between the commits of when the task was created and of now
	Said   []remark // of the last rejection about lines that are not shown
	Rows   [][]row  // of each hunk
	Pairs  [][]pair // likewise, where the old file stands beside the new one
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
	Href    string   // where a comment is written about it, "" where none can be
	Said    []remark // of the last rejection about it
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

// readFrom reads the patch that write writes, up to maxPatch.
func readFrom(write func(io.Writer) error) (*readPatch, error) {
	var text limited
	var hidden handover.Hidden
	err := write(io.MultiWriter(&text, &hidden))
	cut := errors.Is(err, errLong)
	if err != nil && !cut {
		return nil, err
	}
	return &readPatch{files: patch.Parse(text.String()), cut: cut, hidden: hidden.Notice(), coloured: map[int][][]template.HTML{}}, nil
}

// patches are the patches of submissions that were read last.
type patches struct {
	mu  sync.Mutex
	all map[[2]string]*readPatch // by the trees that they compare
}

// maxPatches bounds how many patches are cached, each of at most maxPatch.
const maxPatches = 4

// patch reads the patch of a task since a tree, "" for its base, or takes the one of the same submission that was read before.
func (s *Site) patch(ctx context.Context, e *engine.Engine, since string) (*readPatch, error) {
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	var trees [2]string
	if now.Task.Submitted() {
		trees = [2]string{cmp.Or(since, now.Task.BaseTree), now.Task.Submission.Tree}
	}
	s.patches.mu.Lock()
	p := s.patches.all[trees]
	s.patches.mu.Unlock()
	if p != nil {
		return p, nil
	}
	if p, err = readFrom(func(w io.Writer) error { return status.WriteDiff(ctx, e, since, w) }); err != nil {
		return nil, err
	}
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

// diff shows the patch of a task, and the comments on its lines. link is that of the page of the task.
func (s *Site) diff(r *http.Request, e *engine.Engine, d *status.Detail, p *page, link string) (*diff, error) {
	q := r.URL.Query()
	v := &diff{Page: p, Open: q.Get("comment"), Head: d.Head, Split: q.Get("split") != "", Link: link + "?view=diff"}
	rounds, err := status.ReadRounds(e)
	if err != nil {
		return nil, err
	}
	tree := ""
	for i, round := range rounds {
		if round.ID == q.Get("since") && round.Tree != "" {
			v.Since, tree = &rounds[i], round.Tree
			v.Link += "&since=" + url.QueryEscape(round.ID)
		}
		if d.Submission == nil || round.ID != d.Submission.ID {
			v.Rounds = append(v.Rounds, round)
		}
	}
	if q.Get("since") != "" && v.Since == nil {
		return nil, errNotFound
	}
	v.Moved = v.Since != nil && v.Since.Base != rounds[len(rounds)-1].Base
	if v.Other = v.Link + "&split=1"; v.Split {
		v.Link, v.Other = v.Other, v.Link
	}
	read, err := s.patch(r.Context(), e, tree)
	if err != nil {
		return nil, err
	}
	v.Cut, v.Hidden = read.cut, read.hidden
	var viewed map[string]string
	if d.Submission != nil && d.TaskID != "" {
		v.Subject = Subject{Branch: d.Branch, Task: d.TaskID, Submission: d.Submission.ID}
		if v.Draft, err = s.drafts.Read(v.Subject); err != nil {
			return nil, err
		}
		if v.Stale, err = s.drafts.Stale(v.Subject); err != nil {
			return nil, err
		}
		if viewed, err = s.drafts.Viewed(v.Subject); err != nil {
			return nil, err
		}
		for _, a := range d.Acts {
			v.Reviewing = v.Reviewing || a.Name == "reject"
		}
	}
	said, err := s.remarks(r.Context(), e, rounds, read)
	if err != nil {
		return nil, err
	}
	v.choose(read, q.Get("file"), viewed, said)
	return v, nil
}

// written are names of files that programs write: whole names, and how others end.
var written = []string{"go.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", ".lock", ".min.js", ".min.css", ".pb.go", "_pb2.py", ".snap"}

// choose decides what is shown of each file, and of which file all is: the one of that index. viewed are ids of contents by path.
func (v *diff) choose(read *readPatch, whole string, viewed map[string]string, said []remark) {
	committed := map[string]bool{} // by the names that patch.Parse gives the files
	if v.Head != nil {
		for _, path := range v.Head.Paths {
			committed[safetext.Mark(path)] = true
		}
	}
	lines := 0
	for i, f := range read.files {
		v.Added, v.Removed = v.Added+f.Added, v.Removed+f.Removed
		id, seen := viewed[f.Path]
		one := diffFile{File: f, Index: i, Diff: v, Commit: committed[f.Path], Viewed: seen && id == f.ID,
			Made: slices.ContainsFunc(written, func(end string) bool { return strings.HasSuffix(f.Path, end) })}
		if one.Viewed {
			v.Marked++
		}
		for _, r := range said {
			if r.Path == f.Path {
				one.Said = append(one.Said, r)
			}
		}
		sum, size := 0, 0
		for _, h := range f.Hunks {
			sum += len(h.Lines)
			for _, l := range h.Lines {
				size += len(l.Text)
			}
		}
		if one.Folded = strconv.Itoa(i) != whole && (one.Made || sum > fileLines || lines+sum > pageLines || size > fileSize); !one.Folded {
			lines += sum
			one.rows(read.html(i))
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
			rows[j].Said = f.about(key)
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
			for k, c := range v.Draft.Comments {
				if c.Path == f.Path && c.Line == key {
					rows[j].Comment = &v.Draft.Comments[k]
				}
			}
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
