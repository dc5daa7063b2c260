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

	"github.com/ferrus-go/ferrus/internal/store"
)

// Import makes a machine, and its project where there is none, with the lines of a journal. Each line and the chain are verified. The machine is
// there whole or not at all. Nobody holds the work: a term is measured by the clock of one store. label names the project for people. The error is an
// *store.Error, of code Corrupt when a line is not valid, of code InvalidInput when there is such a machine with at least one event already.
func (d *Database) Import(ctx context.Context, name Name, label string, journal io.Reader) error {
	return d.change(ctx, "import "+name.String(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, insertProject, name.Project, label); err != nil {
			return err
		}
		id, err := insertMachine(ctx, tx, name)
		if errors.Is(err, pgx.ErrNoRows) {
			return &store.Error{Code: store.InvalidInput, What: "the database has a machine for " + name.String() + " already",
				Remedy: "nothing was changed: remove that one first, or import into another project"}
		}
		if err != nil {
			return err
		}
		lines := &source{machine: id, r: bufio.NewReaderSize(journal, 1<<16)}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"journal"}, []string{"machine", "seq", "off", "attempt", "line"}, lines); err != nil {
			return cmp.Or(lines.err, err)
		}
		return setHead(ctx, tx, id, lines.prev)
	})
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
		s.err = &store.Error{Code: store.Corrupt, What: fmt.Sprintf("the line at byte %d is not valid", off), Err: err,
			Remedy: "nothing was changed: import a journal that is whole"}
		return false
	}
	s.raw = raw
	return true
}

func (s *source) Values() ([]any, error) {
	return []any{s.machine, int64(s.prev.Seq), s.prev.Off, uuid.New(), s.raw}, nil
}

func (s *source) Err() error { return s.err }
