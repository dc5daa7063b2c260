// Package web serves MCP over HTTP: streamable HTTP at /mcp, for clients of the revision
// 2026-07-28, which have no sessions, and for older ones, which have; and the still older SSE at
// /sse.
//
// The package decides which requests are accepted and how many at a time. A request passes, in this
// order, the guard (guard.go: did a web page in a browser send it?), authentication (bearer.go:
// whose token is it?), the limits (limits.go, body.go), and a transport (streamable.go, sse.go).
// The package does not know the tools: it gets one MCP server for each role, and tells it who calls
// ([CallerOf]).
//
// Lifetimes are contexts: the site has one; below it each token in use has one, below that each MCP
// session, below that each call. When a context ends, everything below it ends.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Verifier returns the token of a secret. Its error is of kind tokens.ErrUnknown or
// tokens.ErrExpired for an invalid secret. Any other error means that no secret can be verified
// now. A *tokens.Book is a Verifier.
type Verifier interface {
	Verify(secret string, now time.Time) (tokens.Token, error)
}

// Options say what a site serves, and to whom.
type Options struct {
	Servers map[state.Role]*mcp.Server // by role of the token; the site adds middleware to them
	Tokens  Verifier
	Metrics func(ctx context.Context) ([]format.Metric, error) // the numbers of the project at /metrics; nil for none
	Hosts   []string                                           // host names of the site, besides those of the loopback and of its address
	Origins []string                                           // origins of browser-like clients that may call, such as https://app.example
	TLS     bool                                               // the listener uses TLS
	Limits  Limits
	Log     *slog.Logger // slog.Default when nil
}

// A Site is the handler of all requests. The caller closes it.
type Site struct {
	opts     Options
	guard    guard
	log      *slog.Logger
	ctx      context.Context // ends with Close
	end      context.CancelFunc
	bearers  bearers
	sessions sessions
	posts    load // requests that carry messages
	calls    load // messages being handled; an SSE client does not wait for its own
	noted    notes
	took     durations

	legacy, modern http.Handler
}

// New creates a site. It starts to watch tokens and sessions at once.
func New(opts Options) *Site {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	opts.Limits = opts.Limits.orDefault()
	s := &Site{opts: opts, log: opts.Log, guard: guard{hosts: opts.Hosts, origins: opts.Origins, tls: opts.TLS}}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.bearers.all, s.sessions.all = map[string]*bearer{}, map[string]*session{}
	s.posts = load{most: opts.Limits.Calls, each: opts.Limits.CallsPerToken, share: opts.Limits.Share, of: map[string]int{}}
	s.calls = load{most: opts.Limits.Calls, each: opts.Limits.CallsPerToken, share: opts.Limits.Share, of: map[string]int{}}
	for _, server := range opts.Servers {
		server.AddReceivingMiddleware(s.identify, s.took.measure)
	}
	s.legacy, s.modern = s.streamable(false), s.streamable(true)
	go s.watch()
	return s
}

// Close ends all sessions, streams and calls.
func (s *Site) Close() { s.end() }

func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if why := s.guard.refuse(r); why != "" {
		s.refuse(w, r, http.StatusForbidden, why)
		return
	}
	switch r.URL.Path {
	case "/healthz":
		if s.allow(w, r, http.MethodGet, http.MethodHead) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write([]byte("ok")) // who asks has gone when it fails
		}
	case "/mcp":
		s.enter(w, r, s.mcp, http.MethodPost, http.MethodGet, http.MethodDelete)
	case "/metrics":
		s.metrics(w, r)
	case "/sse":
		s.enter(w, r, s.sse, http.MethodGet, http.MethodPost)
	default:
		s.refuse(w, r, http.StatusNotFound, "nothing is served here; the endpoints are /mcp, /sse and /metrics")
	}
}

// enter passes a request on to a transport when its token, its body and the limits allow that.
func (s *Site) enter(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request, *identity), methods ...string) {
	if !s.allow(w, r, methods...) {
		return
	}
	v, leave, ok := s.authenticate(w, r)
	if !ok {
		return
	}
	defer leave()
	if r.Method == http.MethodPost {
		if !s.jsonBody(w, r) {
			return
		}
		status := s.posts.take(v.token.ID)
		if status == 0 {
			defer s.posts.leave(v.token.ID)
			status = s.calls.full(v.token.ID)
		}
		turned := func() {
			w.Header().Set("Retry-After", "1")
			s.refuse(w, r, status, "too many calls at once; wait for some of them to end")
		}
		// A client with too many calls must still be able to cancel one.
		if status != 0 && !short(r) {
			turned()
			return
		}
		if !s.readBody(w, r) {
			return
		}
		if status != 0 && !notifies(r) {
			turned()
			return
		}
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), visitKey{}, v))
	defer cancel()
	defer context.AfterFunc(v.bearer.ctx, cancel)()
	out := newStream(w, s.opts.Limits)
	defer out.close()
	serve(out, r.WithContext(ctx), v)
}

// allow refuses all other methods. There is no CORS, so OPTIONS is one of them.
func (s *Site) allow(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	for _, m := range methods {
		if r.Method == m {
			return true
		}
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	s.refuse(w, r, http.StatusMethodNotAllowed, "method not allowed")
	return false
}
