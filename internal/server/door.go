package server

import (
	"context"
	"log/slog"
	"os"
	"regexp"
	"sync"

	"github.com/ferrus-go/ferrus/internal/engine"
)

var agentName = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

// A door opens the machine when it is first needed, and again when it has come back after being lost: a server that a
// client starts in a folder without ferrus answers with the remedy instead of failing to start.
type door struct {
	conf Config
	log  *slog.Logger

	mu sync.Mutex
	e  *engine.Engine
	s  *engine.Session
}

func (d *door) session() (*engine.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.open()
	return d.s, err
}

func (d *door) engine() (*engine.Engine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.open()
	return d.e, err
}

// open makes sure that the machine is open. A machine that was lost stays open if there is no other in its place: its
// refusals say what happened.
func (d *door) open() error {
	if d.e != nil {
		if _, err := d.e.View(); engine.CodeOf(err) != engine.StoreGone {
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
		d.e.Close()
	}
	d.e, d.s = e, e.Session(engine.Caller{Role: d.conf.Role, Agent: d.conf.Identity()})
	return nil
}

func (d *door) find() (*engine.Engine, error) {
	dir := d.conf.Root
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	place, err := engine.Find(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if d.conf.Branch != "" {
		place = engine.At(place.Root, d.conf.Branch)
	}
	return engine.Open(place, engine.Options{Log: d.log})
}

func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.e != nil {
		d.e.Close()
	}
}
