package postgrestest

import (
	"bytes"
	"sync"
)

// A log is what a server writes.
type log struct {
	ready chan struct{} // closed when the server accepts connections

	mu      sync.Mutex
	written []byte
	said    bool // ready is closed
}

// limit is how much of a log is kept, in bytes.
const limit = 1 << 18

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = append(l.written, p...)
	if !l.said && bytes.Contains(l.written, []byte("ready to accept")) {
		l.said = true
		close(l.ready)
	}
	if extra := len(l.written) - limit; extra > 0 {
		l.written = l.written[extra:]
	}
	return len(p), nil
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.written)
}
