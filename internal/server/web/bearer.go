package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/tokens"
)

// A bearer is a token in use by an open request or a session.
type bearer struct {
	token  tokens.Token
	secret string          // to verify the token again
	ctx    context.Context // ends when the token is no longer valid
	end    context.CancelFunc
	uses   int
}

// bearers are the tokens in use, by id.
type bearers struct {
	mu  sync.Mutex
	all map[string]*bearer
}

// An identity is the identity of one request.
type identity struct {
	token   tokens.Token
	bearer  *bearer
	session *session // set for the older SSE; other clients name their session in each request
}

type visitKey struct{}

// authenticate finds the token of a request, whose role is served. For a valid one the caller must call leave at the end
// of the request. Otherwise authenticate has answered the request.
func (s *Site) authenticate(w http.ResponseWriter, r *http.Request) (v *identity, leave func(), ok bool) {
	token, ok := s.tokenOf(w, r)
	switch {
	case !ok:
	case s.opts.Servers[token.Role] == nil:
		s.refuse(w, r, http.StatusForbidden, "this server does not serve the role of this token")
	default:
		secret, _ := secretOf(r)
		b := s.bearers.use(s.ctx, token, secret)
		return &identity{token: token, bearer: b}, func() { s.bearers.leave(b) }, true
	}
	return nil, nil, false
}

// tokenOf finds the token of a request. Where it has no valid one, tokenOf has answered the request. Only the Authorization header counts.
func (s *Site) tokenOf(w http.ResponseWriter, r *http.Request) (token tokens.Token, ok bool) {
	secret, ok := secretOf(r)
	if !ok {
		s.unauthorized(w, r, "", "this needs a token: send Authorization: Bearer SECRET; a person creates one with ferrus token new")
		return token, false
	}
	token, err := s.opts.Tokens.Verify(secret, time.Now())
	switch {
	case errors.Is(err, tokens.ErrUnknown):
		s.unauthorized(w, r, "the token is unknown", "the token is unknown or was revoked; a person creates one with ferrus token new")
	case errors.Is(err, tokens.ErrExpired):
		s.unauthorized(w, r, "the token has expired", "the token has expired; a person creates another with ferrus token new")
	case err != nil:
		s.log.Error("tokens", "error", err)
		s.refuse(w, r, http.StatusInternalServerError, "the tokens cannot be read; the server's log says why")
	}
	return token, err == nil
}

// secretOf returns the secret of a request.
func secretOf(r *http.Request) (string, bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	fields := strings.Fields(values[0])
	if len(fields) != 2 || !strings.EqualFold(fields[0], "bearer") {
		return "", false
	}
	return fields[1], true
}

// unauthorized sends the answer of RFC 6750. It explains what is wrong with a token only if the
// request has one.
func (s *Site) unauthorized(w http.ResponseWriter, r *http.Request, wrong, why string) {
	challenge := `Bearer realm="ferrus"`
	if wrong != "" {
		challenge += `, error="invalid_token", error_description="` + wrong + `"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	s.refuse(w, r, http.StatusUnauthorized, why)
}

// use counts one more use of a token.
func (all *bearers) use(ctx context.Context, token tokens.Token, secret string) *bearer {
	all.mu.Lock()
	defer all.mu.Unlock()
	b := all.all[token.ID]
	if b == nil || b.secret != secret || b.ctx.Err() != nil {
		b = &bearer{token: token, secret: secret}
		b.ctx, b.end = context.WithCancel(ctx)
		all.all[token.ID] = b
	}
	b.uses++
	return b
}

// again counts one more use of a token that is in use.
func (all *bearers) again(b *bearer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	b.uses++
}

func (all *bearers) leave(b *bearer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if b.uses--; b.uses > 0 {
		return
	}
	b.end()
	if all.all[b.token.ID] == b {
		delete(all.all, b.token.ID)
	}
}

func (all *bearers) list() []*bearer {
	all.mu.Lock()
	defer all.mu.Unlock()
	var list []*bearer
	for _, b := range all.all {
		list = append(list, b)
	}
	return list
}

// watch ends whatever belongs to tokens that are no longer valid, and unused sessions, until the
// site closes.
func (s *Site) watch() {
	every := time.NewTicker(s.opts.Limits.Watch)
	defer every.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-every.C:
			for _, b := range s.bearers.list() {
				_, err := s.opts.Tokens.Verify(b.secret, now)
				// A file that cannot be read for a moment ends nothing that is open. It also admits
				// nothing new.
				if errors.Is(err, tokens.ErrUnknown) || errors.Is(err, tokens.ErrExpired) {
					s.log.Info("token ended", "token", b.token.ID, "name", b.token.Name, "why", err)
					b.end()
				}
			}
			for _, ended := range s.sessions.endIdle(now.Add(-s.opts.Limits.Idle)) {
				s.log.Info("session ended", "why", "idle", "token", ended.bearer.token.ID)
			}
		}
	}
}
