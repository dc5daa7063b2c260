// Package web is the page of a project for a person: what needs them, all tasks and runs, patches that can be commented, and
// the acts of a person as forms. It shows what internal/status derives, carries out acts as commands, and decides nothing
// itself.
//
// A [Gate] decides who may see and use the page: one person, with a browser that was let in by a link from the terminal (access.go). It
// knows nothing of the pages. The page has a host name of its own, so that a cookie is sent to no other server of this machine: cookies
// ignore ports. Every request must name that host. A browser gets its cookie for the code of a link, once. An act needs the cookie, the
// page's own Origin, and the token of a form that the page has sent.
//
// Start reading at web.go.
package web

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"crypto/tls"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/status/review"
)

// Options are what a site needs.
type Options struct {
	Root    string // of the project
	ID      string // of the project among several, below whose address it is; "" where it is the only one
	Name    string // of the project; "" for that of its folder
	Origin  string // at which browsers reach it, such as http://x.localhost:4711
	Version string
	Log     *slog.Logger

	// Open opens a machine of the project for reading.
	Open func(project.Place) (*engine.Engine, error)
	// Do carries out an act of the person.
	Do func(ctx context.Context, what status.Act, values map[string]string) (status.Outcome, error)
	// Untrusted returns why nothing may be done in the project until the person agrees, nil when it may.
	Untrusted func() error
}

// A Site is the page of a project.
type Site struct {
	opts    Options
	base    string // what the addresses of its pages begin with; "" where it is the only project
	gate    *Gate
	reviews *review.Reader
	hub     *hub
	seen    *seen
	results *results
	started time.Time
}

//go:embed static
var static embed.FS

// New returns the site of a project. Its life is that of ctx.
func New(ctx context.Context, opts Options) (*Site, error) {
	s := newSite(ctx, opts)
	var err error
	s.gate, err = NewGate(GateOptions{
		Origin: opts.Origin, Ask: s.ask, Refused: s.refused, Site: s.routes(),
		Files: http.FileServerFS(static), // the folder has the name of its address
	})
	return s, err
}

// newSite returns the site of a project without a gate.
func newSite(ctx context.Context, opts Options) *Site {
	return &Site{opts: opts, base: baseOf(opts.ID), reviews: review.NewReader(filepath.Join(opts.Root, project.DirName)), hub: newHub(ctx, opts.Root),
		seen: newSeen(), results: newResults(), started: time.Now()}
}

// Link returns a link that lets one browser in, and until when it can be used.
func (s *Site) Link() (string, time.Time) { return s.gate.Link() }

// ServeHTTP answers a request or refuses it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.gate.ServeHTTP(w, r) }

func (s *Site) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, page := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":            s.board,
		"GET /task":           s.task,
		"GET /branch/{name}":  s.task,
		"GET /compare/{name}": s.compare,
		"GET /run/{run}":      s.run,
		"GET /history":        s.history,
		"GET /history/{task}": s.archived,
		"GET /log":            s.log,
		"GET /events":         s.events,
		"GET /output":         s.output,
		"POST /act":           s.act,
		"POST /draft":         s.draft,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := errNotFound
			if legible(r) {
				err = page(w, r)
			}
			if err != nil {
				s.fail(w, r, err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNotFound) })
	return mux
}

// legible reports whether an address is text.
func legible(r *http.Request) bool {
	for _, values := range r.URL.Query() {
		if slices.ContainsFunc(values, func(v string) bool { return !isText(v) }) {
			return false
		}
	}
	return isText(r.URL.Path)
}

// isText reports whether a part of an address has only bytes that the name of something has.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// isFile reports whether a name can be that of a file in a folder, and is no other path.
func isFile(name string) bool {
	return isText(name) && len(name) <= 255 && name == filepath.Base(name) && strings.Trim(name, ".") != "" && !strings.Contains(name, `\`)
}

// grace is how long Serve waits for open requests when its context ends.
const grace = 300 * time.Millisecond

// Serve serves listeners until ctx ends, and closes them. conf is nil without TLS.
func (s *Site) Serve(ctx context.Context, listeners []net.Listener, conf *tls.Config) error {
	return serveOn(ctx, s, s.opts.Log, listeners, conf)
}

func serveOn(ctx context.Context, pages http.Handler, log *slog.Logger, listeners []net.Listener, conf *tls.Config) error {
	only1 := new(http.Protocols)
	only1.SetHTTP1(true)
	server := &http.Server{
		Handler: pages, Protocols: only1, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelInfo), DisableGeneralOptionsHandler: true,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		if conf != nil {
			l = tls.NewListener(l, conf)
		}
		go func() { ended <- server.Serve(l) }()
	}
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(closing) != nil {
		_ = server.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
