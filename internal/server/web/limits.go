package web

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

// Limits bound what clients can use. Zero means the default.
type Limits struct {
	Body   int64 // bytes of a request's body; 4 MiB
	Header int   // bytes of a request's headers; 16 KiB
	Conns  int   // open connections; 5,000

	Calls, CallsPerToken       int // calls at a time; 512, and 256 of one token
	Sessions, SessionsPerToken int // open sessions; 4,096, and 2,048 of one token

	// Share is the number of calls and of sessions that each token can have in any case: a quarter
	// of all is reserved for tokens that have fewer; 16.
	Share int

	HeaderTime time.Duration // for a request's headers, and between requests of a connection's handshake; 5 s
	BodyTime   time.Duration // for a request's body; 30 s
	WriteTime  time.Duration // for a client to read what is written to it; 30 s
	KeepAlive  time.Duration // between signs of life on a silent stream; 25 s
	Idle       time.Duration // a session without requests and streams ends; 1 h
	ConnIdle   time.Duration // a connection without requests is closed; 2 min
	Watch      time.Duration // between checks whether tokens in use are still valid; 1 s
}

func (l Limits) orDefault() Limits {
	l.Body, l.Header, l.Conns = cmp.Or(l.Body, 4<<20), cmp.Or(l.Header, 16<<10), cmp.Or(l.Conns, 5000)
	l.Calls, l.CallsPerToken = cmp.Or(l.Calls, 512), cmp.Or(l.CallsPerToken, 256)
	l.Sessions, l.SessionsPerToken = cmp.Or(l.Sessions, 4096), cmp.Or(l.SessionsPerToken, 2048)
	l.Share = cmp.Or(l.Share, 16)
	l.HeaderTime, l.BodyTime = cmp.Or(l.HeaderTime, 5*time.Second), cmp.Or(l.BodyTime, 30*time.Second)
	l.WriteTime, l.KeepAlive = cmp.Or(l.WriteTime, 30*time.Second), cmp.Or(l.KeepAlive, 25*time.Second)
	l.Idle, l.ConnIdle = cmp.Or(l.Idle, time.Hour), cmp.Or(l.ConnIdle, 2*time.Minute)
	l.Watch = cmp.Or(l.Watch, time.Second)
	return l
}

// over returns the status to answer a token that has own of sum things and wants one more, or 0 if
// it may have it. A token may have at most each, and share in any case. From the last quarter no
// token gets more than share, so that two tokens cannot take everything.
func over(own, sum, each, most, share int) (status int) {
	switch {
	case own >= each:
		return http.StatusTooManyRequests
	case sum >= most, own >= share && sum >= most-most/4:
		return http.StatusServiceUnavailable
	}
	return 0
}

// A load counts active uses, in total and by token.
type load struct {
	most, each, share int

	mu  sync.Mutex
	sum int
	of  map[string]int
}

// take counts one more use, or returns the status to answer with if that would be too many. The
// caller must end the use with leave.
func (l *load) take(token string) (status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if status := l.over(token); status != 0 {
		return status
	}
	l.sum++
	l.of[token]++
	return 0
}

// full returns what take would, without counting.
func (l *load) full(token string) (status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over(token)
}

func (l *load) over(token string) int {
	return over(l.of[token], l.sum, l.each, l.most, l.share)
}

func (l *load) leave(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum--
	if l.of[token]--; l.of[token] == 0 {
		delete(l.of, token)
	}
}
