package review

import (
	"context"
	"io"
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A Comparison is several attempts at one task, beside each other.
type Comparison struct {
	Title    string
	Attempts []Attempt
	Scored   bool
}

// An Attempt is a branch of a comparison.
type Attempt struct {
	branch.Attempt
	Best    bool        // it has the highest score
	Select  *status.Act // that takes it, nil where it cannot be taken
	Used    int         // of the tries that checks may fail
	Max     int
	Spent   records.Spend
	Said    string        // what its executor wrote when it handed the work in
	Review  string        // what its newest rejection said
	Verdict *status.Round // the newest submission that was decided about, nil for none
	Remark  string        // of its approval
	Patch   *Patch        // nil where it cannot be read here
}

// Judged says whether the checks passed on the files of the attempt.
func (a Attempt) Judged() string {
	switch {
	case a.Green:
		return "passed"
	case a.Check == "":
		return "not run"
	}
	return "not passed"
}

// An Opener opens the machine of a branch for reading, "" for the project's own. The caller closes it.
type Opener func(branch string) (*engine.Engine, error)

// Compare reads the attempts at one task: those of names, the branches of the project, that belong to the one called name.
func (r *Reader) Compare(ctx context.Context, open Opener, names []string, name string) (*Comparison, error) {
	group := branch.Group(names, name)
	e, err := open("")
	if err != nil {
		return nil, err
	}
	defer e.Close()
	c := &Comparison{}
	list := branch.Attempts(ctx, e, group)
	best, err := branch.Best(e.Place(), list)
	for _, one := range list {
		a := Attempt{Attempt: one, Best: err == nil && best.Score != nil && one.Branch == best.Branch}
		if a.Error == "" {
			if err := r.fill(ctx, open, &a); err != nil {
				a.Error = err.Error()
				if why := refusal.Of(err); why != nil {
					a.Error = why.Message
				}
			}
		}
		c.Title, c.Scored = one.Title, c.Scored || one.Score != nil
		c.Attempts = append(c.Attempts, a)
	}
	return c, nil
}

// fill reads what a comparison shows of an attempt beside what all lists do.
func (r *Reader) fill(ctx context.Context, open Opener, a *Attempt) error {
	e, err := open(a.Branch)
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
	if d.Approval != nil {
		a.Remark = d.Approval.Text
	}
	rounds, err := status.ReadRounds(e)
	if err != nil {
		return err
	}
	for i := range rounds {
		if rounds[i].Verdict != "" {
			a.Verdict = &rounds[i]
		}
	}
	if at := slices.IndexFunc(d.Acts, func(act status.Act) bool { return act.Name == "select" }); at >= 0 {
		a.Select = &d.Acts[at]
	}
	if a.Elsewhere {
		return nil
	}
	a.Patch, err = r.patch(ctx, e, "")
	return err
}

// Between reads what differs between the work of two attempts.
func (c *Comparison) Between(ctx context.Context, open Opener, from, to string) (*Patch, error) {
	tree := func(name string) string {
		at := slices.IndexFunc(c.Attempts, func(a Attempt) bool { return a.Branch == name && a.Error == "" && !a.Elsewhere })
		if at < 0 || !c.Attempts[at].Snap.Task.Submitted() {
			return ""
		}
		return c.Attempts[at].Snap.Task.Submission.Tree
	}
	was, is := tree(from), tree(to)
	if was == "" || is == "" {
		return nil, &refusal.RefusedError{Code: refusal.WrongState, Message: "one of the two has handed in no work here that could be compared", Person: true,
			Remedy: "choose two attempts that were submitted"}
	}
	e, err := open(to)
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
	p, err := readFrom(func(w io.Writer) error { return work.Patch(ctx, was, is, w) })
	if err != nil {
		return nil, refusal.Git(err)
	}
	return p, nil
}
