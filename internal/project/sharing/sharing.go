// Package sharing moves the machines of a project between its files and a database, and lets a folder on another computer take part.
//
// A move is one transaction of the database, in either direction. Before it nothing works on the machines any more, and what is recorded names the
// project; after it the same call finishes what the transaction has decided. So a move that is cut off anywhere has left one project, and the files of one
// folder at most go on with it.
package sharing

import (
	"context"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
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

// locked calls each for the machines of all places in their files, and then last, while it holds the locks of all.
func locked(ctx context.Context, places []project.Place, each func(project.Place, store.Snapshot) error, last func() error) error {
	if len(places) == 0 {
		return last()
	}
	m, err := places[0].OpenFiles(project.StoreOptions{})
	if err != nil {
		return err
	}
	defer m.Close()
	_, err = m.Apply(ctx, func(now store.Snapshot) (*store.Change, error) {
		if err := each(places[0], now); err != nil {
			return nil, err
		}
		return nil, locked(ctx, places[1:], each, last)
	})
	return err
}

// idle refuses a machine whose work somebody has claimed, or whose files are being moved by a merge or a rollback.
func idle(p project.Place, now store.Snapshot) error {
	if who := now.Task.ClaimedBy; who != "" {
		return atWork([]postgres.Work{postgres.Work{Branch: p.Branch, Here: true}.As(postgres.Claimed, who)})
	}
	if refusal.Finishing(now.Task) != "" {
		return atWork([]postgres.Work{cutOff(p, now)})
	}
	return nil
}

// cutOff is a merge or a rollback that moves the files of a machine and is not over.
func cutOff(p project.Place, now store.Snapshot) postgres.Work {
	return postgres.Work{Branch: p.Branch, Here: true, What: "a merge or a rollback that was cut off", End: refusal.Say("%s", refusal.Finishing(now.Task))}
}

// seen records in the project's record what was seen of a machine.
func seen(p project.Place, first string, now store.Position) error {
	record, err := trust.Open(p.Root)
	if err != nil {
		return refusal.Folder(err)
	}
	return refusal.Folder(record.Update(func(r *trust.Record) error {
		r.Journal.Begin(first)
		if p.Branch == "" {
			r.Journal.Off, r.Journal.H = now.Last, now.H
		}
		return nil
	}))
}
