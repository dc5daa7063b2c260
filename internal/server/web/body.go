package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
)

// jsonBody refuses a body that is not declared as JSON. A page of another site cannot send JSON
// without asking first.
func (s *Site) jsonBody(w http.ResponseWriter, r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		s.refuse(w, r, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return false
	}
	return true
}

// readBody reads the body within limits of size and time, for all transports.
func (s *Site) readBody(w http.ResponseWriter, r *http.Request) bool {
	conn := http.NewResponseController(w)
	// A deadline of the whole server would end the streams, too. Only connections of tests do not
	// support deadlines.
	_ = conn.SetReadDeadline(time.Now().Add(s.opts.Limits.BodyTime))
	limit := s.opts.Limits.Body
	text, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	large := int64(len(text)) > limit
	if large {
		// A client that is still sending may not read the answer.
		_, _ = io.CopyN(io.Discard, r.Body, limit)
	}
	_ = conn.SetReadDeadline(time.Time{})
	switch {
	case large:
		w.Header().Set("Connection", "close")
		s.refuse(w, r, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body is larger than %d bytes; put large texts into files of the work tree", limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		s.refuse(w, r, http.StatusRequestTimeout, "the body took too long")
	case err != nil:
		s.refuse(w, r, http.StatusBadRequest, "the body could not be read")
	case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")):
		// One batch could contain thousands of calls and count as one.
		s.refuse(w, r, http.StatusBadRequest, "batches are not supported; send one message a request")
	case Envelope(text) != "":
		s.refuse(w, r, http.StatusBadRequest, Envelope(text))
	default:
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		return true
	}
	return false
}

// short reports whether the declared length of a body is at most that of a notification.
func short(r *http.Request) bool { return r.ContentLength >= 0 && r.ContentLength <= 4<<10 }

// notifies reports whether the body, which has been read, is a notification: it has no answer, and
// ends with its request.
func notifies(r *http.Request) bool {
	text, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return err == nil && json.Unmarshal(text, &m) == nil && m.ID == nil && strings.HasPrefix(m.Method, notification)
}

// notification is the prefix of the methods of notifications.
const notification = "notifications/"
