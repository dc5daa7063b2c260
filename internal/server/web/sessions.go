package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A session belongs to a client of an older revision, and to the token that opened it, not to
// another token of the same role or name: its id is a name, not a permission.
type session struct {
	id     string
	bearer *bearer
	ctx    context.Context // parent of all its calls
	end    context.CancelFunc
	ready  chan struct{} // closed when messages can be delivered
	closed chan struct{} // closed when its calls have ended and all writes are done

	sse *mcp.SSEServerTransport // nil for a streamable session

	open int       // requests and streams; guarded by sessions.mu
	last time.Time // when the last one ended
}

// sessions are the open sessions, by id.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

// admits returns 0 if the bearer may open one more session, otherwise the status to answer with.
func (all *sessions) admits(b *bearer, lim Limits) (status int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	own := 0
	for _, s := range all.all {
		if s.bearer.token.ID == b.token.ID {
			own++
		}
	}
	return over(own, len(all.all), lim.SessionsPerToken, lim.Sessions, lim.Share)
}

// full answers a request that would open too many sessions.
func (s *Site) full(w http.ResponseWriter, r *http.Request, v *identity) bool {
	status := s.sessions.admits(v.bearer, s.opts.Limits)
	if status == 0 {
		return false
	}
	w.Header().Set("Retry-After", "60")
	s.refuse(w, r, status, "too many sessions are open; close some, or wait until idle ones end")
	return true
}

// open adds a session. When the session ends, hangup ends the SDK's side of it.
func (s *Site) open(id string, b *bearer, sse *mcp.SSEServerTransport, hangup func()) *session {
	one := &session{id: id, bearer: b, sse: sse, ready: make(chan struct{}), closed: make(chan struct{}), last: time.Now()}
	one.ctx, one.end = context.WithCancel(b.ctx)
	s.bearers.again(b)
	s.sessions.mu.Lock()
	s.sessions.all[id] = one
	s.sessions.mu.Unlock()
	context.AfterFunc(one.ctx, func() {
		s.sessions.mu.Lock()
		delete(s.sessions.all, id)
		s.sessions.mu.Unlock()
		hangup() // waits for the calls, which end with the context
		close(one.closed)
		s.bearers.leave(b)
	})
	return one
}

// use finds a session for a request of a token; the caller must call leave at the end of the
// request. Otherwise the status says why: the session does not exist, or belongs to another token.
func (all *sessions) use(id string, b *bearer) (one *session, leave func(), status int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	one = all.all[id]
	switch {
	case one == nil:
		return nil, nil, http.StatusNotFound
	case one.bearer.token.ID != b.token.ID:
		return nil, nil, http.StatusForbidden
	}
	one.open++
	return one, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		one.open--
		one.last = time.Now()
	}, 0
}

// join is use, but answers a request without a usable session.
func (s *Site) join(w http.ResponseWriter, r *http.Request, id string, v *identity) (one *session, leave func(), ok bool) {
	one, leave, status := s.sessions.use(id, v.bearer)
	switch status {
	case http.StatusNotFound:
		s.refuse(w, r, status, "no such session; it may have ended: initialize a new one")
	case http.StatusForbidden:
		s.refuse(w, r, status, "the session belongs to another token")
	}
	return one, leave, status == 0
}

// find returns the session of an id, nil when there is none.
func (all *sessions) find(id string) *session {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.all[id]
}

// endIdle ends the sessions without a request or a stream since then.
func (all *sessions) endIdle(since time.Time) []*session {
	all.mu.Lock()
	defer all.mu.Unlock()
	var idle []*session
	for _, s := range all.all {
		if s.open == 0 && s.last.Before(since) {
			idle = append(idle, s)
			s.end()
		}
	}
	return idle
}
