package web

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A stream is a response that may last. Each write has a time limit of its own, because a limit for
// the whole response would end it. A client that reads nothing for that long has left, and net/http
// ends its request. A silent event stream sends a comment from time to time: proxies cut silent
// connections, and only a write detects that the client has left.
type stream struct {
	http.ResponseWriter
	conn *http.ResponseController
	lim  Limits

	mu     sync.Mutex // writers are the transport, in whole events, and the timer
	closed bool
	begun  bool
	alive  *time.Timer // nil until the response is known to be an event stream
}

func newStream(w http.ResponseWriter, lim Limits) *stream {
	return &stream{ResponseWriter: w, conn: http.NewResponseController(w), lim: lim}
}

// Unwrap implements the interface of http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

var errClosed = errors.New("the request has ended")

func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.begin()
		s.ResponseWriter.WriteHeader(status)
	}
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, errClosed
	}
	s.begin()
	return s.write(p)
}

// FlushError implements the interface of http.ResponseController.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.begin()
	return s.flush()
}

// Flush implements http.Flusher.
func (s *stream) Flush() { _ = s.FlushError() }

// begin reads the headers once, when they are final: later only the transport may read them.
func (s *stream) begin() {
	if s.begun || s.closed {
		return
	}
	s.begun = true
	if strings.HasPrefix(s.Header().Get("Content-Type"), "text/event-stream") {
		s.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		s.alive = time.AfterFunc(s.lim.KeepAlive, s.tick)
	}
}

// tick writes a comment, which clients skip.
func (s *stream) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if _, err := s.write([]byte(": \n\n")); err == nil {
		_ = s.flush() // net/http ends the request when it fails
	}
}

func (s *stream) write(p []byte) (int, error) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.lim.WriteTime)) // only connections of tests do not support deadlines
	n, err := s.ResponseWriter.Write(p)
	s.after(err)
	return n, err
}

func (s *stream) flush() error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.lim.WriteTime))
	err := s.conn.Flush()
	s.after(err)
	return err
}

func (s *stream) after(err error) {
	if err == nil && s.alive != nil {
		s.alive.Reset(s.lim.KeepAlive)
	}
}

// close ends the stream with its request: afterwards nothing may be written to the response.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.alive != nil {
		s.alive.Stop()
	}
	_ = s.conn.SetWriteDeadline(time.Time{}) // the connection may be used again
}
