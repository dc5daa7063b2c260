package server

import (
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/server/web"
)

// A sessionCache has the engine's sessions of clients with an MCP session. A session remembers what
// a reviewer was shown, and which claim an executor has, as long as the MCP session lasts. A client
// of a revision without sessions names these with each call.
type sessionCache struct {
	mu    sync.Mutex
	taken map[sessionKey]*entry
	swept time.Time
}

type sessionKey struct{ token, session string }

type entry struct {
	s    *engine.Session
	last time.Time
}

// idleSeat is how long an unused session stays in the cache. Nothing is lost with it: a client can
// name its claim.
const idleSeat = 24 * time.Hour

// session returns the engine's session for a caller.
func (at *sessionCache) session(e *engine.Engine, c web.Caller) (*engine.Session, error) {
	who := Config{Role: c.Token.Role, Agent: c.Token.Name, Index: 1}.Identity()
	if c.Session == "" {
		return e.Remote(engine.Caller{Role: c.Token.Role, Agent: who, Tree: overHTTP, Once: true}, c.Token.ID, "")
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	now, key := time.Now(), sessionKey{c.Token.ID, c.Session}
	at.sweep(now)
	one := at.taken[key]
	if one == nil || one.s.Engine() != e { // the machine was lost and restored
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

// sweep removes unused sessions from time to time.
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

// overHTTP stands for the process tree of a caller over the network, which is unknown.
const overHTTP = "over HTTP"
