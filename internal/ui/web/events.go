package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A stream writes server-sent events.
type stream struct {
	w  http.ResponseWriter
	to *http.ResponseController
}

// writeTime is how long a browser may take to read an event.
const writeTime = 30 * time.Second

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{w, http.NewResponseController(w)}
	_ = s.to.SetReadDeadline(time.Time{}) // the limit of a request is not one of a stream
	return s
}

// send writes one event. The error means that the browser has gone.
func (s *stream) send(id, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_ = s.to.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := fmt.Fprintf(s.w, "id: %s\nevent: %s\ndata: %s\n\n", id, name, text); err != nil {
		return err
	}
	return s.to.Flush()
}

// events streams the changes that a page is about: those of a branch, of a run, or all of them. Its id is MACHINE:SEQ; a
// browser that comes back with the id of an older change gets an event at once.
func (s *Site) events(w http.ResponseWriter, r *http.Request) error {
	about, one := partOf(r)
	changes, leave := s.hub.join()
	defer leave()
	out := newStream(w)
	now := change{about, s.hub.seq(about)}
	name := "hello"
	if was := r.Header.Get("Last-Event-ID"); was != "" && (!one || was != now.id()) {
		name = "change"
	}
	if out.send(now.id(), name, now) != nil {
		return nil
	}
	for {
		select {
		case <-r.Context().Done():
			return nil
		case c := <-changes:
			if one && c.Of != about {
				continue
			}
			if out.send(c.id(), "change", c) != nil {
				return nil
			}
		case <-time.After(tired):
			if out.send(now.id(), "time", now) != nil {
				return nil
			}
		}
	}
}

func (c change) id() string {
	of := c.Of
	if of == "" {
		of = "project"
	}
	return of + ":" + strconv.FormatUint(c.Seq, 10)
}

// partOf is the part of the project that a page is about; without one it is about all.
func partOf(r *http.Request) (of string, one bool) {
	q := r.URL.Query()
	if run := q.Get("run"); run != "" {
		return runPlace + run, true
	}
	return strings.TrimSpace(q.Get("branch")), q.Has("branch")
}
