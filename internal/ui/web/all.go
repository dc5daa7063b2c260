package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
)

// AllOptions are what a page of several projects needs.
type AllOptions struct {
	Origin, Version string
	Log             *slog.Logger

	Members func() ([]project.Member, error) // the projects, as they are now
	Of      func(project.Member) Options     // how one of them is read and used; what is the same for all is not looked at
}

// An All is the page of several projects: one inbox, and below it the page of each. It decides which project a request is about, and leaves
// the rest to the [Site] of that project.
type All struct {
	opts  AllOptions
	gate  *Gate
	front *Site // of no project: it shows what is about none
	inbox *status.Inbox[facts]
	ctx   context.Context

	mu    sync.Mutex
	sites map[string]func() *Site // by the id of the project
}

// Facts are what the inbox shows of a project.
type facts struct {
	site  *Site
	needs []need
	board board
	why   error // nothing may be done in it
}

// below is where the pages of projects are: each below its id.
const below = "/p/"

// baseOf is what the addresses of a project begin with.
func baseOf(id string) string {
	if id == "" {
		return ""
	}
	return below + id
}

// inAll stands for the page of all projects where a form says which page of its project it was on.
const inAll = "/?in=all"

// to is the address of a page of the project.
func (s *Site) to(page string) string {
	if s.base != "" && page == inAll {
		return "/"
	}
	return s.base + page
}

// command is a command of ferrus as a person can run it who sees the page.
func (p *page) command(text string) string {
	if p.ID == "" {
		return text
	}
	return status.CommandIn(p.Root, text)
}

// NewAll returns the page of several projects. Its life is that of ctx.
func NewAll(ctx context.Context, opts AllOptions) (*All, error) {
	a := &All{opts: opts, ctx: ctx, sites: map[string]func() *Site{}}
	a.front = &Site{opts: Options{Name: "All projects", Version: opts.Version, Log: opts.Log, Untrusted: func() error { return nil }}, results: newResults(), started: time.Now()}
	a.inbox = status.NewInbox(ctx, a.read)
	var err error
	a.gate, err = NewGate(GateOptions{Origin: opts.Origin, Ask: a.front.ask, Refused: a.front.refused, Bound: split, Site: http.HandlerFunc(a.route),
		Files: http.FileServerFS(static)})
	return a, err
}

// Link returns a link that lets one browser in, and until when it can be used.
func (a *All) Link() (string, time.Time) { return a.gate.Link() }

// ServeHTTP answers a request or refuses it.
func (a *All) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.gate.ServeHTTP(w, r) }

// Serve is that of a [Site].
func (a *All) Serve(ctx context.Context, listeners []net.Listener, conf *tls.Config) error {
	return serveOn(ctx, a, a.opts.Log, listeners, conf)
}

// split splits a path into the id of its project, "" for none, and the address in that project.
func split(at string) (id, rest string) {
	named, ok := strings.CutPrefix(at, below)
	if !ok {
		return "", at
	}
	id, rest, _ = strings.Cut(named, "/")
	return id, "/" + rest
}

// route gives a request to the project that it names. A path that is not clean could be read as one that leads out of it.
func (a *All) route(w http.ResponseWriter, r *http.Request) {
	id, rest := split(r.URL.Path)
	var err error
	switch {
	case rest != path.Clean(rest) || !legible(r):
		err = errNotFound
	case id != "":
		err = a.project(w, r, id)
	case rest == "/" && r.Method != http.MethodPost:
		err = a.board(w, r)
	case rest == "/events" && r.Method != http.MethodPost:
		err = a.events(w, r)
	default:
		err = errNotFound
	}
	if err != nil {
		a.front.fail(w, r, err)
	}
}

// project gives a request to the site of a project.
func (a *All) project(w http.ResponseWriter, r *http.Request, id string) error {
	members, err := a.opts.Members()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(members, func(m project.Member) bool { return m.ID == id && m.Err == nil })
	if at < 0 {
		return errNotFound
	}
	if err := members[at].There(); err != nil {
		return err
	}
	s := a.site(members[at])
	if r.URL.Path == s.base {
		http.Redirect(w, r, s.base+"/", http.StatusSeeOther)
		return nil
	}
	http.StripPrefix(s.base, s.routes()).ServeHTTP(w, r)
	return nil
}

// site is that of a project, made when it is needed first. A project that does not answer keeps only those who wait for it.
func (a *All) site(m project.Member) *Site {
	a.mu.Lock()
	made := a.sites[m.ID]
	if made == nil {
		made = sync.OnceValue(func() *Site {
			opts := a.opts.Of(m)
			opts.Root, opts.ID, opts.Name, opts.Version, opts.Log = m.Root, m.ID, m.Name, a.opts.Version, a.opts.Log
			return newSite(a.ctx, opts)
		})
		a.sites[m.ID] = made
	}
	a.mu.Unlock()
	return made()
}

// read reads what the inbox shows of a project.
func (a *All) read(ctx context.Context, m project.Member) (facts, error) {
	f := facts{site: a.site(m)}
	v, err := status.ReadOverview(ctx, m.Root, status.Options{Open: f.site.opts.Open, Merges: true})
	if err == nil {
		err = v.Busy
	}
	if err != nil {
		return facts{}, err
	}
	f.why = f.site.opts.Untrusted()
	f.needs = f.site.needs(ctx, v.Needs)
	f.board.Work, _ = f.site.jobs(v)
	return f, nil
}

// An allBoard is the page of all projects.
type allBoard struct {
	Needs    []need
	Projects []projectRow
}

// A projectRow is a project in the page of all projects.
type projectRow struct {
	Name, Root, Link string
	Stale            string // how old the facts are that are not those of now
	Why, Remedy      string // what is wrong with it
	Facts            *projectFacts
}

type projectFacts struct {
	Needs   []need
	Working int
}

// board shows what needs the person in all projects, then the projects: first those that are well.
func (a *All) board(w http.ResponseWriter, r *http.Request) error {
	members, err := a.opts.Members()
	if err != nil {
		return err
	}
	p := a.front.page(r, "Inbox")
	p.Live = "/events"
	var b, unwell allBoard
	for _, row := range a.inbox.Read(members) {
		one := projectRow{Name: row.Name, Root: row.Root}
		if row.Member.Err == nil {
			one.Link = baseOf(row.ID) + "/"
		}
		of := row.Facts
		switch {
		case row.Err != nil:
			one.Why, one.Remedy = explain(row.Err)
			if !row.At.IsZero() {
				one.Stale = format.Age(row.At)
			}
		case row.At.IsZero():
			one.Remedy = "It is being read."
		case of.why != nil:
			one.Why, one.Remedy = explain(of.why)
			one.Why, one.Remedy = "read-only: "+one.Why, status.CommandIn(row.Root, one.Remedy)
		}
		if !row.At.IsZero() {
			one.Facts = &projectFacts{of.needs, of.board.Working()}
			at := of.site.bare(r, "")
			at.Path, at.Why, at.ReadBy = inAll, one.Why, one.Remedy
			p.Done = cmp.Or(p.Done, at.Done)
			for _, n := range of.needs {
				n.Page = at
				b.Needs = append(b.Needs, n)
			}
		}
		if one.Why != "" {
			unwell.Projects = append(unwell.Projects, one)
		} else {
			b.Projects = append(b.Projects, one)
		}
	}
	slices.SortStableFunc(b.Needs, func(a, b need) int { return cmp.Or(a.Kind.Urgency()-b.Kind.Urgency(), a.Since.Compare(b.Since)) })
	if len(b.Needs) > 0 {
		b.Needs[0].First = true
	}
	b.Projects = append(b.Projects, unwell.Projects...)
	p.Data = b
	return a.front.show(w, http.StatusOK, "all", p)
}

// events streams that something has changed in one of the projects.
func (a *All) events(w http.ResponseWriter, r *http.Request) error {
	out := newStream(w)
	now := change{Of: "all"}
	for name := "hello"; ; now.Seq++ {
		changed := a.inbox.Changed() // before the browser is told to read
		if out.send(now.id(), name, now) != nil {
			return nil
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-changed:
			name = "change"
		case <-time.After(tired):
			name = "time"
		}
	}
}
