package web

import (
	"crypto/rand"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sse serves /sse, the transport of 2024-11-05. GET opens a session and is its stream. POST
// delivers a message to it, and is answered before the message is handled. The SDK's handler would
// let any token post into any session, and would not end the calls of a client that has left; so
// only its transport is used.
func (s *Site) sse(w http.ResponseWriter, r *http.Request, v *identity) {
	if r.Method == http.MethodPost {
		s.deliver(w, r, v)
		return
	}
	if s.full(w, r, v) {
		return
	}
	id := rand.Text()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	t := &mcp.SSEServerTransport{Endpoint: "/sse?sessionid=" + id, Response: w, MaxRequestBodyBytes: s.opts.Limits.Body}
	var ss *mcp.ServerSession
	connected := make(chan struct{})
	one := s.open(id, v.bearer, t, func() {
		<-connected
		if ss != nil {
			_ = ss.Close()
		}
	})
	_, leave, status := s.sessions.use(id, v.bearer) // for the stream: while it is open the session is not idle
	if status == 0 {
		defer leave()
	}
	v.session = one
	var err error
	ss, err = s.opts.Servers[v.token.Role].Connect(r.Context(), t, nil)
	close(connected)
	if err != nil {
		one.end() // the client left before its first event
		return
	}
	s.log.Info("session", "token", v.token.ID, "name", v.token.Name, "transport", "sse")
	close(one.ready)
	<-r.Context().Done() // it ends with the client, the token and the site
	one.end()
	<-one.closed
}

// deliver passes a message to its session.
func (s *Site) deliver(w http.ResponseWriter, r *http.Request, v *identity) {
	id := r.URL.Query().Get("sessionid")
	if id == "" {
		s.refuse(w, r, http.StatusBadRequest, "POST to the endpoint that GET /sse names")
		return
	}
	one, leave, ok := s.join(w, r, id, v)
	if !ok {
		return
	}
	defer leave()
	if one.sse == nil {
		s.refuse(w, r, http.StatusNotFound, "the session belongs to /mcp")
		return
	}
	select {
	case <-one.ready:
		one.sse.ServeHTTP(w, r)
	case <-one.ctx.Done():
		s.refuse(w, r, http.StatusNotFound, "the session has ended")
	}
}
