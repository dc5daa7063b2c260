package web

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stateless is the first revision of the protocol without sessions. Revisions are dates that
// compare as text.
const stateless = "2026-07-28"

// streamable creates the SDK's handler for modern or older clients. One handler cannot serve both:
// a stateless one cannot ask an older client anything, one with sessions refuses a newer client.
func (s *Site) streamable(modern bool) http.Handler {
	h := mcp.NewStreamableHTTPHandler(s.server, &mcp.StreamableHTTPOptions{
		Stateless:                    modern,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // the guard has checked it, and respects --allow-host
		MaxRequestBodyBytes:          s.opts.Limits.Body,
	})
	// The SDK binds a session to its user if it gets the user in its own way.
	known := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		v, ok := ctx.Value(visitKey{}).(*identity)
		if !ok {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: v.token.ID}, nil
	}
	return auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}

// server returns the server of the caller's role. The SDK calls it several times for each request.
func (s *Site) server(r *http.Request) *mcp.Server {
	v, ok := r.Context().Value(visitKey{}).(*identity)
	if !ok {
		return nil
	}
	return s.opts.Servers[v.token.Role]
}

// mcp serves /mcp to clients of both kinds.
func (s *Site) mcp(w http.ResponseWriter, r *http.Request, v *identity) {
	if r.Header.Get("Mcp-Protocol-Version") >= stateless {
		s.modern.ServeHTTP(w, r)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		if r.Method != http.MethodPost || !s.full(w, r, v) {
			s.legacy.ServeHTTP(w, r)
		}
		return
	}
	one, leave, ok := s.join(w, r, id, v)
	if !ok {
		return
	}
	defer leave()
	if one.sse != nil {
		s.refuse(w, r, http.StatusNotFound, "the session belongs to /sse")
		return
	}
	if r.Method == http.MethodDelete {
		// The SDK would wait for the session's calls to end by themselves.
		one.end()
		<-one.closed
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.legacy.ServeHTTP(w, r)
}
