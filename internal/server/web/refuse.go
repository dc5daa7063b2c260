package web

import (
	"net/http"
	"sync"
	"time"
)

// refuse answers a refused request and logs it. It logs nothing that may be secret: neither the
// query nor the headers.
func (s *Site) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	switch s.noted.one(time.Now()) {
	case notesPerMinute:
		s.log.Warn("many requests are refused; the rest of this minute is not logged")
		fallthrough
	default:
		s.log.Info("refused", "status", status, "why", why, "method", r.Method, "path", clip(r.URL.Path), "from", r.RemoteAddr)
	case 0:
	}
	http.Error(w, why, status)
}

// notesPerMinute bounds how fast unknown clients can fill the disk.
const notesPerMinute = 200

// notes counts the log lines of a minute.
type notes struct {
	mu    sync.Mutex
	begun time.Time
	n     int
}

// one counts one more line and returns its number, 0 above notesPerMinute.
func (n *notes) one(now time.Time) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.begun) >= time.Minute {
		n.begun, n.n = now, 0
	}
	if n.n == notesPerMinute {
		return 0
	}
	n.n++
	return n.n
}

// clip bounds a text of an unknown client.
func clip(text string) string { return text[:min(len(text), 100)] }
