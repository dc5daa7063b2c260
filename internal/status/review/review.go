// Package review is what a person decides on: the patch of a submission with the comments on its lines, the files that were viewed and what
// the last rejection has said, and several attempts at one task beside each other. The page and the screen show the same.
//
// A [Reader] reads. A [Store] has what the person writes before deciding, which are files in .ferrus/drafts. What is decided is an act of
// package status. Package patch reads the text of a patch.
//
// Start reading at review.go.
package review

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review/patch"
)

// What is shown of a patch: a file with more lines or bytes is folded, and so is what comes after that many lines altogether.
const (
	fileLines = 600
	fileSize  = 256 << 10
	pageLines = 1200
)

// A Review is the patch of a task, and what is known about its lines.
type Review struct {
	*Patch
	Files          []File
	Added, Removed int
	Subject        Subject // of the submission, zero where nothing is submitted
	Draft          Draft
	Stale          []Draft
	Reviewing      bool           // a verdict is possible
	Head           *status.Head   // that HEAD has moved, nil where it has not
	Rounds         []status.Round // before the present submission
	Since          *status.Round  // since which the changes are shown, nil for all
	Moved          bool           // the task was moved onto other files of the project after that round
	Marked         int            // how many files the person has viewed
	Took           time.Duration  // the newest check that passed, 0 where that is not known
}

// A File is a file of a patch.
type File struct {
	patch.File
	Folded bool     // it is too long to be shown at once, or a program has written it
	Made   bool     // a program has written it, as its name tells
	Viewed bool     // by the person, as it is now
	Commit bool     // it differs between the commits of when the task was created and of now
	Said   []Remark // of the last rejection
}

// SubjectOf is what comments on the present submission of a task are about; false where nothing is submitted.
func SubjectOf(d *status.Detail) (Subject, bool) {
	if d.Submission == nil || d.TaskID == "" {
		return Subject{}, false
	}
	return Subject{Branch: d.Branch, Task: d.TaskID, Submission: d.Submission.ID}, true
}

// Read reads the patch of a task since a submission, "" for all of it, and what is known about it. Without such a submission it has all, and
// Since is nil. whole is the index of a file that is not folded.
func (r *Reader) Read(ctx context.Context, e *engine.Engine, d *status.Detail, since, whole string) (*Review, error) {
	v := &Review{Head: d.Head, Took: took(d.Timeline)}
	rounds, err := status.ReadRounds(e)
	if err != nil {
		return nil, err
	}
	tree := ""
	for i, round := range rounds {
		if round.ID == since && round.Tree != "" {
			v.Since, tree = &rounds[i], round.Tree
		}
		if d.Submission == nil || round.ID != d.Submission.ID {
			v.Rounds = append(v.Rounds, round)
		}
	}
	v.Moved = v.Since != nil && v.Since.Base != rounds[len(rounds)-1].Base
	if v.Patch, err = r.patch(ctx, e, tree); err != nil {
		return nil, err
	}
	var viewed map[string]string
	if about, ok := SubjectOf(d); ok {
		v.Subject = about
		if v.Draft, err = r.Store.Read(v.Subject); err != nil {
			return nil, err
		}
		if v.Stale, err = r.Stale(v.Subject); err != nil {
			return nil, err
		}
		if viewed, err = r.Viewed(v.Subject); err != nil {
			return nil, err
		}
		for _, a := range d.Acts {
			v.Reviewing = v.Reviewing || a.Name == "reject"
		}
	}
	said, err := r.remarks(ctx, e, rounds, v.Patch)
	if err != nil {
		return nil, err
	}
	v.choose(whole, viewed, said)
	return v, nil
}

// took is how long the newest check took, if it has passed.
func took(list []status.Entry) (took time.Duration) {
	var begun time.Time
	for _, e := range list {
		switch {
		case e.Undone:
		case e.Event == state.CheckStarted:
			begun, took = e.At, 0
		case e.Event == state.CheckPassed && !begun.IsZero():
			took = e.At.Sub(begun)
		}
	}
	return took
}

// Look is a patch that is only looked at.
func Look(p *Patch) *Review {
	v := &Review{Patch: p}
	v.choose("", nil, nil)
	return v
}

// written are names of files that programs write: whole names, and how others end.
var written = []string{"go.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", ".lock", ".min.js", ".min.css", ".pb.go", "_pb2.py", ".snap"}

// choose decides what is shown of each file, and of which file all is: the one of that index. viewed are ids of contents by path.
func (v *Review) choose(whole string, viewed map[string]string, said []Remark) {
	committed := map[string]bool{} // by the names that patch.Parse gives the files
	if v.Head != nil {
		for _, path := range v.Head.Paths {
			committed[safetext.Mark(path)] = true
		}
	}
	lines := 0
	for i, f := range v.Patch.Files {
		v.Added, v.Removed = v.Added+f.Added, v.Removed+f.Removed
		id, seen := viewed[f.Path]
		one := File{File: f, Commit: committed[f.Path], Viewed: seen && id == f.ID,
			Made: slices.ContainsFunc(written, func(end string) bool { return strings.HasSuffix(f.Path, end) })}
		if one.Viewed {
			v.Marked++
		}
		for _, r := range said {
			if r.Path == f.Path {
				one.Said = append(one.Said, r)
			}
		}
		sum, size := one.Lines(), 0
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				size += len(l.Text)
			}
		}
		if one.Folded = strconv.Itoa(i) != whole && (one.Made || sum > fileLines || lines+sum > pageLines || size > fileSize); !one.Folded {
			lines += sum
		}
		v.Files = append(v.Files, one)
	}
}

// Lines is how many lines the hunks of the file have.
func (f *File) Lines() (n int) {
	for _, h := range f.Hunks {
		n += len(h.Lines)
	}
	return n
}

// About takes those of the file's remarks that are about a line.
func (f *File) About(key string) (said []Remark) {
	f.Said = slices.DeleteFunc(f.Said, func(r Remark) bool {
		is := r.Key() == key
		if is {
			said = append(said, r)
		}
		return is
	})
	return said
}

// CommentOn is the comment on a line of a file, nil where there is none.
func (d *Draft) CommentOn(path, key string) *Comment {
	for i, c := range d.Comments {
		if c.Path == path && c.Line == key {
			return &d.Comments[i]
		}
	}
	return nil
}

// Offer puts what the draft says into the act that rejects its submission, where the person goes on writing.
func (d Draft) Offer(acts []status.Act) {
	for i, a := range acts {
		if a.Name == "reject" && a.On.Submission == d.Subject.Submission && len(a.Fields) > 0 {
			acts[i].Fields = slices.Clone(a.Fields)
			acts[i].Fields[0].Value = safetext.Mark(d.Text())
		}
	}
}
