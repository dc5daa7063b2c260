package web

import (
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A comparison is the page of several attempts at one task, beside each other.
type comparison struct {
	Title    string
	Name     string // of the attempt by which the page was asked for
	Attempts []attempt
	Scored   bool
	From, To string // the two of which it shows the difference, "" for none
	Between  *diff
}

// An attempt is a branch of a comparison.
type attempt struct {
	branch.Attempt
	Best   bool // it has the highest score
	Place  string
	Link   string
	Select *status.Act // that takes it, nil where it cannot be taken
	Used   int         // of the tries that checks may fail
	Max    int
	Spent  records.Spend
	Said   string // what its executor wrote when it handed the work in
	Review string // what its newest rejection said
	Diff   *diff
}

// Judged says whether the checks passed on the files of the attempt.
func (a attempt) Judged() string {
	switch {
	case a.Green:
		return "passed"
	case a.Check == "":
		return "not run"
	}
	return "not passed"
}

// compare shows the attempts at one task, found by the name of one of them, and what differs between two.
func (s *Site) compare(w http.ResponseWriter, r *http.Request) error {
	names, err := project.Branches(s.opts.Root)
	if err != nil {
		return err
	}
	c := comparison{Name: r.PathValue("name"), From: r.URL.Query().Get("from"), To: r.URL.Query().Get("to")}
	if !slices.Contains(names, c.Name) {
		return errNotFound
	}
	group := branch.Group(names, c.Name)
	e, err := s.open("")
	if err != nil {
		return err
	}
	defer e.Close()
	p := s.page(r, "Compare "+c.Name)
	p.Live = s.base + "/events"
	list := branch.Attempts(r.Context(), e, group)
	best, err := branch.Best(e.Place(), list)
	for _, one := range list {
		a := attempt{Attempt: one, Best: err == nil && best.Score != nil && one.Branch == best.Branch, Place: placeOf(one.Branch), Link: linkTo(s.base, one.Branch)}
		if a.Error == "" {
			if err := s.fill(r.Context(), p, &a); err != nil {
				a.Error, _ = explain(err)
			}
		}
		c.Title, c.Scored = one.Title, c.Scored || one.Score != nil
		c.Attempts = append(c.Attempts, a)
	}
	if c.From != "" || c.To != "" {
		if c.Between, err = s.between(r.Context(), p, list, c.From, c.To); err != nil {
			return err
		}
	}
	p.Data = c
	return s.show(w, http.StatusOK, "compare", p)
}

// fill reads what a comparison shows of an attempt beside what all lists do.
func (s *Site) fill(ctx context.Context, p *page, a *attempt) error {
	e, err := s.open(a.Branch)
	if err != nil {
		return err
	}
	defer e.Close()
	d, err := status.ReadDetail(ctx, e, 1)
	if err != nil {
		return err
	}
	if a.Spent = d.Spent; d.Check != nil {
		a.Used, a.Max = d.Check.Used, d.Check.Max
	}
	if d.Submission != nil {
		a.Said = d.Submission.Text
	}
	if d.Rejection != nil {
		a.Review = d.Rejection.Text
	}
	if at := slices.IndexFunc(d.Acts, func(act status.Act) bool { return act.Name == "select" }); at >= 0 {
		a.Select = &d.Acts[at]
	}
	if a.Elsewhere {
		return nil
	}
	read, err := s.patch(ctx, e, "")
	if err == nil {
		a.Diff = shown(p, a.Link, read)
	}
	return err
}

// between is what differs between the work of two attempts.
func (s *Site) between(ctx context.Context, p *page, list []branch.Attempt, from, to string) (*diff, error) {
	tree := func(name string) string {
		at := slices.IndexFunc(list, func(a branch.Attempt) bool { return a.Branch == name && a.Error == "" && !a.Elsewhere })
		if at < 0 || !list[at].Snap.Task.Submitted() {
			return ""
		}
		return list[at].Snap.Task.Submission.Tree
	}
	was, is := tree(from), tree(to)
	if was == "" || is == "" {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "one of the two has handed in no work here that could be compared", Person: true,
			Remedy: "choose two attempts that were submitted"}
	}
	e, err := s.open(to)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		return nil, err
	}
	work, err := e.Tree(ctx, now)
	if err != nil {
		return nil, err
	}
	read, err := readFrom(func(w io.Writer) error { return work.Patch(ctx, was, is, w) })
	if err != nil {
		return nil, refusal.Git(err)
	}
	return shown(p, linkTo(s.base, to), read), nil
}

// shown is a patch that is only looked at; link is the page of its task.
func shown(p *page, link string, read *readPatch) *diff {
	v := &diff{Page: p, Link: link + "?view=diff", Cut: read.cut, Hidden: read.hidden}
	v.choose(read, "", nil, nil)
	return v
}
