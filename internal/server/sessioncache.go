package server

import (
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/server/web"
)

// sessionCache keep the engine's sessions of clients that have an MCP session: what a reviewer was shown, and which claim an
// executor holds, is remembered for as long as that lasts. A client of a revision without sessions names it all with
// each call.
type sessionCache struct {
	mu    sync.Mutex
	taken map[seatKey]*entry
	swept time.Time
}

type seatKey struct{ token, session string }

type entry struct {
	s    *engine.Session
	last time.Time
}

// idleSeat is how long a seat is kept that nobody sits on. Nothing is lost with it: a claim can be named.
const idleSeat = 24 * time.Hour

// session returns the session on which a caller acts.
func (at *sessionCache) session(e *engine.Engine, c web.Caller) (*engine.Session, error) {
	who := Config{Role: c.Token.Role, Agent: c.Token.Name, Index: 1}.Identity()
	if c.Session == "" {
		return e.Remote(engine.Caller{Role: c.Token.Role, Agent: who, Tree: overHTTP, Once: true}, c.Token.ID, "")
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	now, key := time.Now(), seatKey{c.Token.ID, c.Session}
	at.sweep(now)
	one := at.taken[key]
	if one == nil || one.s.Engine() != e { // the machine was lost and has come back
		s, err := e.Remote(engine.Caller{Role: c.Token.Role, Agent: who, Tree: overHTTP}, c.Token.ID, "")
		if err != nil {
			return nil, err
		}
		one = &entry{s: s}
		at.taken[key] = one
	}
	one.last = now
	return one.s, nil
}

// sweep clears the seats that nobody sits on, every now and then.
func (at *sessionCache) sweep(now time.Time) {
	if now.Sub(at.swept) < time.Minute {
		return
	}
	at.swept = now
	for key, one := range at.taken {
		if now.Sub(one.last) > idleSeat {
			delete(at.taken, key)
		}
	}
}

// overHTTP is the process tree of a caller over the network: it has none that could be seen here.
const overHTTP = "over HTTP"
