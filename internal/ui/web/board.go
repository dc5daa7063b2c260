package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// newestDone is how many archived tasks the first page shows.
const newestDone = 10

// A board is the first page: what needs the person, each once, then the rest of the work in quiet rows.
type board struct {
	Needs    []need // the most urgent first, and of equal urgency the oldest
	Work     []job  // delegates after the task that they are for
	Done     []job
	Queue    []status.QueuedTask
	Graph    *graph // of the queue; nil where no task needs another one
	Runs     []status.RunSummary
	Archived []status.ArchivedTask
	More     int
	Acts     []status.Act
	Foreign  string
}

// Working is how many tasks agents work on.
func (b board) Working() (n int) {
	for _, j := range b.Work {
		if j.Group == status.AtWork {
			n++
		}
	}
	return n
}

// A need is something that only a person can do, with the acts that do it.
type need struct {
	status.Need
	Page       *page
	First      bool // of the page
	Sign       sign
	Place      string
	Link       string
	Background string        // all of the text of a question, "" where the need says it
	Also       []status.Need // what else the same task needs
	Takes      []taking      // of attempts
	Acts       []status.Act
}

// A taking is the act that selects an attempt.
type taking struct {
	Place string
	Act   status.Act
}

// A sign is how a kind of need is shown: the class of its colour, its icon with its name, and what a link to it is called.
type sign struct {
	Class, Icon, Word, Look string
}

// signs are the signs of the kinds of needs.
var signs = map[status.NeedKind]sign{
	status.NeedAnswer:     {"ask", "question", "Question", "Answer"},
	status.NeedBudget:     {"ask", "question", "Question of ferrus", "Answer"},
	status.NeedResponse:   {"ask", "question", "Consultation", "Answer"},
	status.NeedDelivery:   {"wait", "send", "Delivery", "Look at it"},
	status.NeedFinish:     {"bad", "cross", "Cut off", "Look at it"},
	status.NeedInspection: {"bad", "cross", "Unreadable", "Look at it"},
	status.NeedConflict:   {"bad", "conflict", "Conflict", "Look at it"},
	status.NeedReview:     {"wait", "check", "Review", "Review"},
	status.NeedChoice:     {"choice", "branch", "Choice", "Compare"},
	status.NeedMerge:      {"good", "branch", "Merge", "Review"},
	status.NeedFailed:     {"bad", "cross", "Failed", "Look at it"},
	status.NeedStopped:    {"dim", "pause", "Stands still", "Look at it"},
	status.NeedPipeline:   {"dim", "pause", "Pipeline", "Look at it"},
	status.NeedAgreement:  {"dim", "pause", "Settings", "Look at it"},
	status.NeedDay:        {"dim", "pause", "Limit of the day", "Look at it"},
	status.NeedBlocked:    {"bad", "cross", "Blocked", "Look at it"},
	status.NeedTrust:      {"ask", "question", "Agreement", "Look at it"},
}

// icons are the paths of the icons, in a square of 16.
var icons = map[string]string{
	"question": "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M6.1 6.3a1.9 1.9 0 1 1 2.7 1.8c-.5.2-.8.5-.8 1.1M8 11.4v.1",
	"check":    "M4.5 2h7A2.5 2.5 0 0 1 14 4.5v7a2.5 2.5 0 0 1-2.5 2.5h-7A2.5 2.5 0 0 1 2 11.5v-7A2.5 2.5 0 0 1 4.5 2M5.2 8.3l2 2 3.7-4.3",
	"cross":    "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M5.8 5.8l4.4 4.4m0-4.4-4.4 4.4",
	"pause":    "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M6.4 6v4M9.6 6v4",
	"conflict": "M3 6h10M3 10h10M10.7 2.8 5.3 13.2",
	"send":     "M14 2 7 9M14 2 9.7 14 7 9 2 6.3z",
	"branch":   "M4.5 5.2v5.6M4.5 2a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2M4.5 10.8a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2M11.5 3.8a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2M11.5 7c0 2.4-3.2 2.4-6.2 4",
}

// A job is a task in a few lines.
type job struct {
	status.Machine
	Link string
}

// Words are the state of the task in words for people.
func (j job) Words() string {
	if j.Group == status.Waiting && j.Holder == "" && j.State == state.Executing {
		return "no agent works on it"
	}
	return status.StateWords(j.State)
}

// Colour is the class of the colour of the state.
func (j job) Colour() string {
	switch {
	case j.Error != "" || j.State == state.Failed:
		return "bad"
	case j.State == state.Complete:
		return "good"
	case j.Group == status.AtWork:
		return "wait"
	}
	return "dim"
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
	status.NeedFailed:    {"reopen"},
	status.NeedDay:       {"allow-today"},
	status.NeedBlocked:   {"drop-need"},
}

// views are where a need is looked at, by its kind; the others on the first view of the task.
var views = map[status.NeedKind]string{status.NeedReview: "diff", status.NeedMerge: "diff"}

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
	p.Live, p.Stale = s.base+"/events", stale
	b := board{Queue: v.Queue, Graph: needed(status.GraphOf(v.Queue)), Runs: v.Pipelines, Archived: v.Archived, More: v.More, Acts: v.Acts}
	if v.Foreign != nil {
		b.Foreign, _ = explain(v.Foreign)
	}
	b.Needs = s.needs(r.Context(), v.Needs)
	for i := range b.Needs {
		b.Needs[i].Page, b.Needs[i].First = p, i == 0
	}
	b.Work, b.Done = s.jobs(v)
	p.Data = b
	return s.show(w, http.StatusOK, "board", p)
}

// needs puts needs in their order, those of one task together.
func (s *Site) needs(ctx context.Context, list []status.Need) (rows []need) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b status.Need) int { return a.Kind.Urgency() - b.Kind.Urgency() })
	for _, n := range list {
		at := slices.IndexFunc(rows, func(r need) bool { return r.Branch == n.Branch && r.Run == n.Run && !r.OfProject() })
		if at < 0 || n.OfProject() {
			rows = append(rows, s.need(ctx, n))
			continue
		}
		rows[at].Also = append(rows[at].Also, n)
		rows[at].Acts = append(rows[at].Acts, s.need(ctx, n).Acts...)
	}
	return rows
}

// jobs are the tasks that need nobody: those at work or waiting, each with its delegates after it, and those that have ended.
func (s *Site) jobs(v *status.Overview) (work, done []job) {
	named := map[string]bool{} // by the needs
	for _, n := range v.Needs {
		if n.Run == "" && !n.OfProject() {
			named[n.Branch] = true
		}
		for _, branch := range n.Options {
			named[branch] = named[branch] || n.Kind == status.NeedChoice
		}
	}
	delegates := map[string][]status.Machine{} // by the branch whose executor has them
	there := map[string]bool{}
	for _, m := range v.Machines {
		there[m.Branch] = true
		if m.Parent != nil {
			delegates[m.Parent.Branch] = append(delegates[m.Parent.Branch], m)
		}
	}
	var add func(m status.Machine)
	add = func(m status.Machine) {
		switch j := (job{m, linkTo(s.base, m.Branch)}); {
		case m.Group == status.Done:
			done = append(done, j)
		case m.Group != status.Idle && !named[m.Branch]:
			work = append(work, j)
		}
		for _, d := range delegates[m.Branch] {
			add(d)
		}
	}
	for _, m := range v.Machines {
		if m.Parent == nil || !there[m.Parent.Branch] {
			add(m)
		}
	}
	return work, done
}

// need finds the acts of a need. What cannot be read has none: its own page says why.
func (s *Site) need(ctx context.Context, n status.Need) need {
	if n.Run != "" {
		return need{Need: n, Sign: signs[n.Kind], Place: placeOfNeed(n), Link: s.base + "/run/" + url.PathEscape(n.Run)}
	}
	one := need{Need: n, Sign: signs[n.Kind], Place: placeOfNeed(n), Link: linkTo(s.base, n.Branch)}
	if n.Queued != "" {
		one.Link = s.base + "/#queue"
	}
	if view := views[n.Kind]; view != "" {
		one.Link += "?view=" + view
	}
	if n.Kind == status.NeedChoice && len(n.Options) > 0 {
		one.Link = s.base + "/compare/" + url.PathEscape(n.Options[0])
		for _, name := range n.Options {
			acts, _, err := s.settling(ctx, status.Need{Kind: n.Kind, Branch: name})
			if at := slices.IndexFunc(acts, func(a status.Act) bool { return a.Name == "select" }); err == nil && at >= 0 {
				one.Takes = append(one.Takes, taking{placeOf(name), acts[at]})
			}
		}
	}
	names := actsFor[n.Kind]
	if len(names) == 0 {
		return one
	}
	acts, background, err := s.settling(ctx, n)
	if err != nil {
		return one
	}
	one.Background = background
	for _, a := range acts {
		for _, name := range names {
			if a.Name == name {
				one.Acts = append(one.Acts, a)
			}
		}
	}
	return one
}

// settling are the acts about the task of a need, and all of the text of a question that the need shows a line of. Whether one can be
// merged is asked of git only where that is what is needed.
func (s *Site) settling(ctx context.Context, n status.Need) (acts []status.Act, background string, err error) {
	if n.Kind == status.NeedConflict || n.Queued != "" {
		acts, err = s.acts(ctx, placeOfNeed(n))
		return acts, "", err
	}
	e, err := s.open(n.Branch)
	if err != nil {
		return nil, "", err
	}
	defer e.Close()
	report, err := status.Read(e)
	if err != nil {
		return nil, "", err
	}
	for _, asked := range []*status.Text{report.Question, report.Consultation} {
		if asked != nil && (n.Kind == status.NeedResponse || asked == report.Question) && strings.Count(strings.TrimSpace(asked.Text), "\n") > 0 {
			background = asked.Text
		}
	}
	return report.Acts(), background, nil
}

// linkTo is the page of the task of a branch, "" for the project's own, of the project whose addresses begin with base.
func linkTo(base, branch string) string {
	if branch == "" {
		return base + "/task"
	}
	return base + "/branch/" + url.PathEscape(branch)
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
