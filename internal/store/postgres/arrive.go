package postgres

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// An Arrival is a project that comes into a database.
type Arrival struct {
	Project  uuid.UUID
	Label    string // names it for people
	Journals []Journal
	Queue    []Entry
}

// A Journal is that of a machine, as bytes.
type Journal struct {
	Branch string // "" for the project's own
	Open   func() (io.ReadCloser, error)
}

// AddProject makes a project with its machines and its queue, all in one transaction. Each line and each chain is verified. Nobody holds the work: a term
// is measured by the clock of one store. Where the project has arrived already, by a call that was cut off, nothing is changed. The error is an
// *refusal.RefusedError, of code Corrupt when a line is not valid, of code NotInitialised when the project was taken out again or given up.
func (d *Database) AddProject(ctx context.Context, a Arrival) error {
	return d.change(ctx, "move the project", func(tx pgx.Tx) error {
		// It waits for an earlier call that is not over.
		var moved, is bool
		err := tx.QueryRow(ctx, insertProject+" returning moved is not null", a.Project, a.Label).Scan(&moved)
		if err == nil {
			err = tx.QueryRow(ctx, "select count(*) > 0 from machine where project = $1", a.Project).Scan(&is)
		}
		switch {
		case err != nil:
			return err
		case moved:
			return d.noProject(ctx, tx, a.Project)
		case is:
			return nil
		}
		for _, j := range a.Journals {
			if err := d.addMachine(ctx, tx, Name{a.Project, j.Branch}, j); err != nil {
				return err
			}
		}
		for _, e := range a.Queue {
			if _, err := addQueued(ctx, tx, a.Project, e); err != nil {
				return err
			}
		}
		return d.addMember(ctx, tx, a.Project)
	})
}

// addMachine makes a machine of a journal.
func (d *Database) addMachine(ctx context.Context, tx pgx.Tx, name Name, j Journal) error {
	id, err := d.insertMachine(ctx, tx, name)
	if err != nil {
		return err
	}
	r, err := j.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	lines := &source{machine: id, r: bufio.NewReaderSize(r, 1<<16)}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"journal"}, []string{"machine", "seq", "off", "attempt", "line"}, lines); err != nil {
		return cmp.Or(lines.err, err)
	}
	return setHead(ctx, tx, id, lines.prev)
}

// setHead sets the head of a new machine to its newest line, nil for none.
func setHead(ctx context.Context, tx pgx.Tx, machine int64, l *store.Line) error {
	if l == nil {
		return nil
	}
	_, err := tx.Exec(ctx, "update head set seq = $2, epoch = $3, bytes = $4, last = $5, h = $6 where machine = $1", machine, int64(l.Seq), int64(l.Epoch), l.End, l.Off, hash(l))
	return err
}

// A source gives the lines of a journal as rows.
type source struct {
	machine int64
	r       *bufio.Reader
	prev    *store.Line
	raw     []byte
	err     error
}

func (s *source) Next() bool {
	off := int64(0)
	if s.prev != nil {
		off = s.prev.End
	}
	raw, err := store.ReadLine(s.r)
	if errors.Is(err, io.EOF) && len(raw) == 0 {
		return false
	}
	if err == nil || errors.Is(err, io.EOF) {
		s.prev, err = store.Follow(s.prev, raw, off)
	}
	if err != nil {
		s.err = refusal.Because(refusal.Corrupt, fmt.Sprintf("the line at byte %d is not valid", off), err,
			"nothing was changed: ferrus doctor{branch} checks the journal")
		return false
	}
	s.raw = raw
	return true
}

func (s *source) Values() ([]any, error) {
	return []any{s.machine, int64(s.prev.Seq), s.prev.Off, uuid.New(), s.raw}, nil
}

func (s *source) Err() error { return s.err }
