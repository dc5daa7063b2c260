package web

import (
	"net/http"
	"slices"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// A comparison is the page of several attempts at one task, beside each other.
type comparison struct {
	*review.Comparison
	Name     string // of the attempt by which the page was asked for
	Attempts []attempt
	From, To string // the two of which it shows the difference, "" for none
	Between  *diff
}

// An attempt is a branch of a comparison.
type attempt struct {
	review.Attempt
	Place string
	Link  string
	Diff  *diff
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
	if c.Comparison, err = s.reviews.Compare(r.Context(), s.open, names, c.Name); err != nil {
		return err
	}
	p := s.page(r, "Compare "+c.Name)
	p.Live = s.base + "/events"
	for _, one := range c.Comparison.Attempts {
		a := attempt{Attempt: one, Place: placeOf(one.Branch), Link: linkTo(s.base, one.Branch)}
		if a.Patch != nil {
			a.Diff = shown(p, a.Link, a.Patch)
		}
		c.Attempts = append(c.Attempts, a)
	}
	if c.From != "" || c.To != "" {
		read, err := c.Comparison.Between(r.Context(), s.open, c.From, c.To)
		if err != nil {
			return err
		}
		c.Between = shown(p, linkTo(s.base, c.To), read)
	}
	p.Data = c
	return s.show(w, http.StatusOK, "compare", p)
}

// shown is a patch that is only looked at; link is the page of its task.
func shown(p *page, link string, read *review.Patch) *diff {
	v := &diff{Review: review.Look(read), Page: p, Link: link + "?view=diff"}
	v.fill()
	return v
}
