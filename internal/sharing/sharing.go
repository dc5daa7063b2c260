// Package sharing moves the machines of a project between its files and a database, and lets a folder on another computer take part.
package sharing

import (
	"context"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// Moved says what was moved or joined.
type Moved struct {
	Project  uuid.UUID `json:"project"`
	Name     string    `json:"name"` // of the project in the database
	URL      string    `json:"url"`
	Machines int       `json:"machines"`
	Events   uint64    `json:"events"`
	Queued   int       `json:"queued,omitempty"` // tasks of the queue that were moved
	Kept     string    `json:"kept,omitempty"`   // where the journals lie that were moved, relative to .ferrus
}

// machines returns the places of all machines of a project, its own first.
func machines(root string) ([]project.Place, error) {
	names, err := project.Branches(root)
	if err != nil {
		return nil, err
	}
	places := []project.Place{project.At(root, "")}
	for _, name := range names {
		places = append(places, project.At(root, name))
	}
	return places, nil
}

// locked calls each for all machines, and then last, while it holds the locks of all.
func locked(ctx context.Context, places []project.Place, each func(project.Place, store.Machine, store.Snapshot) error, last func() error) error {
	if len(places) == 0 {
		return last()
	}
	m, err := places[0].Open(project.StoreOptions{})
	if err != nil {
		return err
	}
	defer m.Close()
	_, err = m.Apply(ctx, func(now store.Snapshot) (*store.Change, error) {
		if err := each(places[0], m, now); err != nil {
			return nil, err
		}
		return nil, locked(ctx, places[1:], each, last)
	})
	return err
}

// held is the refusal of a move while somebody works.
func held(p project.Place, who string) error {
	return &refusal.RefusedError{Code: refusal.WrongState, Message: refusal.OnBranch(p.Branch, who+" works on the task"), Person: true,
		Remedy: "nothing was changed: wait until it has ended, or end it with ferrus stop or ferrus release"}
}

// seen records in the project's record what was seen of a machine.
func seen(p project.Place, m store.Machine, now store.Snapshot) error {
	first, err := m.LineAt(0)
	if err != nil {
		return refusal.From(err)
	}
	record, err := trust.Open(p.Root)
	if err != nil {
		return refusal.Folder(err)
	}
	return refusal.Folder(record.Update(func(r *trust.Record) error {
		r.Journal.Begin(first.H)
		if p.Branch == "" {
			r.Journal.Off, r.Journal.H = now.Journal.Last, now.Journal.H
		}
		return nil
	}))
}
