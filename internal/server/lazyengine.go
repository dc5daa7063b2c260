package server

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/store"
)

var agentName = safetext.NewForm(`^[0-9A-Za-z._-]*$`, 1, 64)

// A lazyEngine opens the machine on first use, and again after it was lost and restored. So a
// server that a client starts in a folder without ferrus answers with a remedy instead of failing
// to start.
type lazyEngine struct {
	conf Config
	log  *slog.Logger

	mu sync.Mutex
	e  *engine.Engine
	s  *engine.Session

	last atomic.Pointer[engine.Engine] // the same as e, for close, which must not wait for a call
}

func (d *lazyEngine) session() (*engine.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.open()
	return d.s, err
}

func (d *lazyEngine) engine() (*engine.Engine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.open()
	return d.e, err
}

// open makes sure that the machine is open. A lost machine stays open until another takes its
// place: its refusals say what happened.
func (d *lazyEngine) open() error {
	if d.e != nil {
		if !d.e.Gone() {
			return nil
		}
	}
	e, err := d.find()
	if err != nil {
		if d.e != nil {
			return nil
		}
		return err
	}
	if d.e != nil {
		// The machine of another project further up is not the lost one.
		if e.Place().Dir() != d.e.Place().Dir() {
			return e.Close()
		}
		d.e.Close()
	}
	d.e, d.s = e, e.Session(engine.Caller{Role: d.conf.Role, Agent: d.conf.Identity(), Tree: proc.Ancestry()})
	d.last.Store(e)
	return nil
}

// delegates reports whether the task, or where there is none a new one, may have delegates.
func (d *lazyEngine) delegates() bool {
	e, err := d.engine()
	if err != nil {
		return false
	}
	now, err := e.View()
	if err != nil {
		return false
	}
	gate, err := e.Gate(now)
	return err == nil && gate.Limits.MaxDelegates > 0
}

func (d *lazyEngine) find() (*engine.Engine, error) {
	place, err := d.conf.place()
	if err != nil {
		return nil, err
	}
	if err := d.conf.refuseDescent(place); err != nil {
		return nil, err
	}
	project, err := trust.Open(place.Root)
	if err != nil {
		return nil, err
	}
	return engine.Open(place, engine.Options{Log: d.log, Rest: 100 * time.Millisecond, Project: project})
}

// close closes the engine, which ends a running check.
func (d *lazyEngine) close() {
	if e := d.last.Load(); e != nil {
		e.Close()
	}
}

// locks describes the holders of the locks that a call may wait for. It does not wait.
func (d *lazyEngine) locks() string {
	said := "server: " + store.Mutex(d.mu.TryLock, d.mu.Unlock)
	if e := d.last.Load(); e != nil {
		said += "; " + e.Locks()
	}
	return said
}
