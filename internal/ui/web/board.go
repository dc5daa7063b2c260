package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// newestDone is how many archived tasks the first page shows.
const newestDone = 10

// A board is the first page: what needs the person, then all tasks by how they stand.
type board struct {
	Needs    []need
	Columns  []column
	Runs     []status.RunSummary
	Archived []status.ArchivedTask
	More     int
	Acts     []status.Act
	Foreign  string
}

// A need is something that only a person can do, with the acts that do it.
type need struct {
	status.Need
	Place   string
	Link    string
	Choices []choice // of attempts
	Acts    []status.Act
}

// A choice is an attempt that can be selected.
type choice struct{ Branch, Link string }

// A column of the board.
type column struct {
	Name  string
	Cards []card
}

// A card is a task in a few lines.
type card struct {
	status.Machine
	Link   string
	Queued string // the name of one that waits in the queue
}

// columns are the columns of the board in their order, and the groups that each shows.
var columns = []struct {
	name   string
	groups []status.Group
}{
	{"Queue", []status.Group{status.Waiting}},
	{"At work", []status.Group{status.AtWork}},
	{"Needs you", []status.Group{status.NeedsYou}},
	{"Done", []status.Group{status.Done}},
}

// actsFor are the acts that settle a need at once, by its kind. The others need a look at the task first.
var actsFor = map[status.NeedKind][]string{
	status.NeedAnswer:    {"answer"},
	status.NeedBudget:    {"answer"},
	status.NeedResponse:  {"answer"},
	status.NeedStopped:   {"resume"},
	status.NeedMerge:     {"merge"},
	status.NeedConflict:  {"resolve"},
	status.NeedAgreement: {"accept"},
	status.NeedFinish:    {"finish"},
}

// views are where a need is looked at, by its kind; the others on the first view of the task.
var views = map[status.NeedKind]string{status.NeedReview: "diff", status.NeedMerge: "diff", status.NeedChoice: "diff"}

func (s *Site) board(w http.ResponseWriter, r *http.Request) error {
	v, stale, err := remember(s.seen, "overview", func() (*status.Overview, error) {
		v, err := status.ReadOverview(r.Context(), s.opts.Root, status.Options{Open: s.opts.Open, Newest: newestDone, Sizes: true})
		if err == nil {
			err = v.Busy
		}
		return v, err
	})
	if err != nil && (v == nil || v.Busy == nil) {
		return err
	}
	p := s.page(r, "Overview")
	p.Live, p.Stale = "/events", stale
	b := board{Runs: v.Pipelines, Archived: v.Archived, More: v.More, Acts: v.Acts}
	if v.Foreign != nil {
		b.Foreign, _ = explain(v.Foreign)
	}
	for _, n := range v.Needs {
		b.Needs = append(b.Needs, s.need(r.Context(), n))
	}
	for _, c := range columns {
		col := column{Name: c.name}
		for _, m := range v.Machines {
			for _, g := range c.groups {
				if m.Group == g {
					col.Cards = append(col.Cards, card{Machine: m, Link: linkTo(m.Branch)})
				}
			}
		}
		if c.name == "Queue" {
			for _, q := range v.Queue {
				col.Cards = append(col.Cards, card{Machine: status.Machine{Title: q.Title}, Queued: q.Name})
			}
		}
		b.Columns = append(b.Columns, col)
	}
	p.Data = b
	return s.show(w, http.StatusOK, "board", p)
}

// need finds the acts of a need. What cannot be read has none: its own page says why.
func (s *Site) need(ctx context.Context, n status.Need) need {
	if n.Run != "" {
		return need{Need: n, Place: runPlace + n.Run, Link: "/run/" + url.PathEscape(n.Run)}
	}
	one := need{Need: n, Place: placeOf(n.Branch), Link: linkTo(n.Branch)}
	if view := views[n.Kind]; view != "" {
		one.Link += "?view=" + view
	}
	if n.Kind == status.NeedChoice {
		for _, branch := range n.Options {
			one.Choices = append(one.Choices, choice{branch, linkTo(branch) + "?view=diff"})
		}
	}
	names := actsFor[n.Kind]
	if len(names) == 0 {
		return one
	}
	acts, err := s.settling(ctx, n)
	if err != nil {
		return one
	}
	for _, a := range acts {
		for _, name := range names {
			if a.Name == name {
				one.Acts = append(one.Acts, a)
			}
		}
	}
	return one
}

// settling are the acts about the task of a need. Whether one can be merged is asked of git only where that is what is needed.
func (s *Site) settling(ctx context.Context, n status.Need) ([]status.Act, error) {
	if n.Kind == status.NeedConflict {
		return s.acts(ctx, placeOf(n.Branch))
	}
	e, err := s.open(n.Branch)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	report, err := status.Read(e)
	if err != nil {
		return nil, err
	}
	return report.Acts(), nil
}

// linkTo is the page of the task of a branch, "" for the project's own.
func linkTo(branch string) string {
	if branch == "" {
		return "/task"
	}
	return "/branch/" + url.PathEscape(branch)
}

// seen is what was read last, to be shown with its age while another process has the lock.
type seen struct {
	mu  sync.Mutex
	all map[string]sight
}

type sight struct {
	at   time.Time
	what any
}

// maxSeen bounds how many pages are remembered.
const maxSeen = 50

func newSeen() *seen { return &seen{all: map[string]sight{}} }

// remember reads facts. While another process has the lock it returns those that were read last, and how old they are.
func remember[T any](s *seen, key string, read func() (T, error)) (now T, stale string, err error) {
	now, err = read()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if len(s.all) >= maxSeen {
			clear(s.all)
		}
		s.all[key] = sight{time.Now(), now}
		return now, "", nil
	}
	var r *refusal.RefusedError
	old, ok := s.all[key].what.(T)
	if ok && errors.As(err, &r) && r.Code == refusal.LockBusy {
		return old, format.Age(s.all[key].at), nil
	}
	return now, "", err
}
