package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Server is a model that listens on loopback.
type Server struct {
	policy Policy
	wrong  func(problem string)
	http   *httptest.Server
	over   chan struct{}

	mu   sync.Mutex
	seen []Seen
}

// Seen is a request and what became of it.
type Seen struct {
	Request
	Reply   Reply
	Side    bool // without tools, such as for a title: answered without the policy
	At      time.Time
	Problem string // why it was refused; such a one fails the test
	Body    string // all of the request, as the client sent it
}

// String is the request in one line: who asked, what the last call came to, and what was said to it.
func (s Seen) String() string {
	line := fmt.Sprintf("%s %s %d", s.At.Format("05.000"), s.Key, s.Replies)
	if calls := s.Calls(); len(calls) > 0 {
		last := calls[len(calls)-1]
		line += fmt.Sprintf(" %s: %.300q", last.Tool, last.Result.Text)
	}
	for _, c := range s.Reply.Calls {
		line += " -> " + c.Tool
	}
	return line + " " + s.Reply.Text + s.Problem
}

// Start starts a model for a test, until it ends. What a client asks in another form than the model's makers have it, or what the
// policy wants though the client does not offer it, is refused and fails the test.
func Start(t testing.TB, policy Policy) *Server {
	t.Helper()
	s := Listen(policy, func(problem string) { t.Error(problem) })
	t.Cleanup(s.Close)
	return s
}

// Listen starts a model, until Close. What is refused is told to wrong.
func Listen(policy Policy, wrong func(problem string)) *Server {
	s := &Server{policy: policy, wrong: wrong, over: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends the model and all conversations.
func (s *Server) Close() {
	close(s.over)
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base of the model's addresses, as ANTHROPIC_BASE_URL wants it; the base_url of a provider of Codex is that
// with /v1. The key tells clients apart.
func (s *Server) URL(key string) string { return s.http.URL + "/s/" + key }

// Seen returns all requests so far, in the order of their coming.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	key, path := "", r.URL.Path
	if rest, ok := strings.CutPrefix(path, "/s/"); ok {
		key, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	out := &answer{w}
	const google = "/v1beta/models/" // its paths name the model and what is asked of it
	var named, asked string
	if rest, ok := strings.CutPrefix(path, google); ok {
		named, asked, _ = strings.Cut(rest, ":")
		path = google + ":" + asked
	}
	switch r.Method + " " + path {
	case "POST /v1/messages":
		s.converse(out, r, key, body, readMessages, sendMessages)
	case "POST /v1/responses":
		s.converse(out, r, key, body, readResponses, sendResponses)
	case "POST /v1/chat/completions":
		s.converse(out, r, key, body, readChat, sendChat)
	case "POST " + google + ":generateContent", "POST " + google + ":streamGenerateContent":
		read := func(body []byte) (*talk, error) { return readGenerate(named, asked == "streamGenerateContent", body) }
		s.converse(out, r, key, body, read, sendGenerate)
	case "POST /v1/messages/count_tokens":
		out.json(fields{"input_tokens": len(body) / 4})
	case "GET /v1/models":
		out.json(fields{"object": "list", "data": []fields{}, "models": []fields{}, "has_more": false})
	case "HEAD /", "HEAD /v1":
	default:
		s.refuse(out, Seen{Request: Request{Key: key}}, http.StatusNotFound, "nothing is known of "+r.Method+" "+path)
	}
}

// converse answers a request by the policy.
func (s *Server) converse(out *answer, r *http.Request, key string, body []byte,
	read func([]byte) (*talk, error), send func(*answer, *talk, Reply)) {
	talk, err := read(body)
	if err != nil {
		s.refuse(out, Seen{Request: Request{Key: key}, Body: string(body)}, http.StatusBadRequest, err.Error())
		return
	}
	talk.Key = key
	seen := Seen{Request: talk.Request, Side: len(talk.Tools) == 0, Body: string(body)}
	if seen.Side {
		seen.Reply = Say("ok")
		if talk.schema {
			seen.Reply = Say(`{"title":"ok"}`)
		}
	} else {
		seen.Reply = s.policy(talk.Request)
	}
	reply := &seen.Reply
	reply.Calls = slices.Clone(reply.Calls) // a policy may give the same ones to all
	for i, c := range reply.Calls {
		if !talk.Offers(c.Tool) {
			reply.Problem = fmt.Sprintf("the model wants %s, but is offered %v", c.Tool, talk.Tools)
		}
		// The number of the reply makes them unique, and the same when a request is repeated.
		reply.Calls[i].ID = fmt.Sprintf("call_%d_%d", talk.Replies+1, i+1)
		if c.Args == nil {
			reply.Calls[i].Args = map[string]any{}
		}
	}
	if reply.Problem != "" {
		s.refuse(out, seen, http.StatusBadRequest, reply.Problem)
		return
	}
	if reply.Usage == (Usage{}) {
		reply.Usage = Usage{Input: 10, Output: 5}
	}
	s.record(seen)
	if !s.pause(r, *reply) {
		return
	}
	if reply.Status != 0 {
		for name, value := range reply.Header {
			out.Header().Set(name, value)
		}
		out.fail(reply.Status, "the test wants it so")
		return
	}
	send(out, talk, *reply)
}

// pause waits as the reply says, and reports whether the client is to be answered then.
func (s *Server) pause(r *http.Request, reply Reply) bool {
	timer := time.NewTimer(reply.Delay)
	defer timer.Stop()
	after := timer.C
	if reply.Hang {
		after = nil
	}
	select {
	case <-after:
		return true
	case <-r.Context().Done():
	case <-s.over:
	}
	return false
}

func (s *Server) record(seen Seen) {
	seen.At = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seen)
}

func (s *Server) refuse(out *answer, seen Seen, status int, problem string) {
	seen.Problem = problem
	s.record(seen)
	s.wrong(fmt.Sprintf("model %q: %s", seen.Key, problem))
	out.fail(status, problem)
}

// fields is a JSON object on its way out.
type fields map[string]any

// encode is a value as JSON. All that is sent is made of texts and numbers.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// An answer writes the body of a response. That a client has left meanwhile is its own business.
type answer struct{ http.ResponseWriter }

func (a *answer) json(v fields) {
	a.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(a, encode(v))
}

// faults are the types of errors by their status, as both makers have them.
var faults = map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
	429: "rate_limit_error", 529: "overloaded_error"}

func (a *answer) fail(status int, message string) {
	kind := faults[status]
	if kind == "" {
		kind = "api_error"
	}
	a.Header().Set("Content-Type", "application/json")
	a.WriteHeader(status)
	_, _ = io.WriteString(a, encode(fields{"type": "error", "error": fields{"type": kind, "message": message}}))
}

// event sends an event of a stream; the name may be empty.
func (a *answer) event(name string, v fields) {
	a.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		_, _ = fmt.Fprintf(a, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(a, "data: %s\n\n", encode(v))
	if f, ok := a.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// done ends a stream as OpenAI's Chat Completions do.
func (a *answer) done() { _, _ = io.WriteString(a, "data: [DONE]\n\n") }
