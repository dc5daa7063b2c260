package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// restoredBackup opens the machine of a journal that is older than the one last seen here, if a person at a terminal says
// that it is a restored backup. Other strange state is the error.
func (a *app) restoredBackup(ctx context.Context, strange error) (*engine.Engine, error) {
	var f *engine.ForeignError
	if !errors.As(strange, &f) || f.Why != engine.OlderJournal || a.json || !a.inTTY || !a.errTTY {
		return nil, strange
	}
	say(a.err, "%s\nUse it from here on? [y/N] ", line(f.Message))
	if answer := strings.ToLower(a.word()); answer != "y" && answer != "yes" {
		return nil, strange
	}
	place, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.adopt(place); err != nil {
		return nil, err
	}
	return a.openAt(place)
}

// word reads a line of stdin, byte by byte: what follows belongs to the command.
func (a *app) word() string {
	var text []byte
	for b := make([]byte, 1); len(text) < 1000; {
		if n, err := a.in.Read(b); n == 0 || err != nil || b[0] == '\n' {
			break
		}
		text = append(text, b[0])
	}
	return strings.TrimSpace(string(text))
}

// adopt records the journal as it stands as this machine's own.
func (a *app) adopt(place engine.Place) error {
	e, err := a.lookAt(place)
	if err != nil {
		return err
	}
	defer e.Close()
	return e.Adopt()
}

// lookOrigin looks whether the state was made on this machine.
func lookOrigin(p *patient) finding {
	project, err := trust.Open(p.place.Root)
	if err != nil {
		return finding{}
	}
	err = engine.Foreign(p.ctx, p.place, project)
	var r *engine.Refusal
	switch {
	case brokenOurs(p, err):
		return finding{} // told by the exam of the journal
	case errors.As(err, &r) && r.Code == engine.ForeignState:
		f := bad(r.Message, r.Remedy)
		if c := p.copies(); c != nil && c.Here.Kind == store.OlderCopy && c.There.Kind != store.ValidCopy {
			f.Mend = fmt.Sprintf("no copy has the newer lines. To go on from event %d: ferrus doctor --adopt", c.Here.Last())
		}
		f.corrupt = true
		return f
	case err != nil:
		return finding{} // told by the exam of the journal
	}
	record, found, err := project.Record()
	switch {
	case err != nil:
		return bad(explain(untrustable(err)).Message, explain(untrustable(err)).Remedy)
	case !found || !record.Journal.Begun():
		return fine("no record of the journal yet: it is taken as yours with your agreement")
	}
	return fine("the state was made on this machine")
}

// brokenOurs reports whether a journal is refused because a line of it was altered or cut off. It may be ours: a journal of
// another project has lines that follow each other.
func brokenOurs(p *patient, strange error) bool {
	var f *engine.ForeignError
	c := p.copies()
	return errors.As(strange, &f) && f.Why == engine.OtherJournal && c != nil && (c.Here.Kind == store.DamagedCopy || c.Here.Kind == store.EmptyCopy)
}

// mendOrigin sets strange state aside and restores ours, or adopts it where a person has said so.
func mendOrigin(p *patient) (string, error) {
	project, err := trust.Open(p.place.Root)
	if err != nil {
		return "", err
	}
	var f *engine.ForeignError
	if !errors.As(engine.Foreign(p.ctx, p.place, project), &f) {
		return "", nil
	}
	if p.adopt && (f.Why == engine.OtherJournal || f.Why == engine.OlderJournal) {
		return "recorded the journal as yours", p.a.adopt(p.place)
	}
	did, err := engine.SetAside(p.ctx, p.place, project, f, time.Now())
	if err != nil {
		return did, err
	}
	p.forget()
	if e, err := p.engine(); err == nil && e.Foreign() == nil && !p.absent() {
		_, _ = e.Store().Apply(p.ctx, func(store.Snapshot) (*store.Change, error) { return nil, nil }) // makes the views again
	}
	return did, nil
}

// untrustable puts an error of the record into words.
func untrustable(err error) error {
	var mine *trust.Error
	if errors.As(err, &mine) {
		return refuse(engine.Untrusted, mine.Error(), mine.Remedy)
	}
	return err
}
