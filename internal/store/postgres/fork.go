package postgres

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Fork is [store.Machine.Fork]: the machine, its lines and its event are committed together. Then as.Draft, which has files of this computer
// alone, becomes as.Dir. A draft that is left by a crash is cleared away by the next call; a machine without its folder is complete.
func (s *Store) Fork(ctx context.Context, as store.Branch, upto int64, decide func(store.Snapshot) (*store.Change, error)) error {
	if err := s.fork(ctx, as, upto, decide); err != nil {
		return err
	}
	err := os.MkdirAll(as.Draft, 0o700)
	if err == nil {
		err = os.Rename(as.Draft, as.Dir)
	}
	if err == nil {
		err = atomicfile.Sync(filepath.Dir(as.Dir))
	}
	if err != nil {
		return refusal.Because(refusal.StoreError, "make "+as.Dir, err, "check whether the folder is writable")
	}
	return nil
}

func (s *Store) fork(ctx context.Context, as store.Branch, upto int64, decide func(store.Snapshot) (*store.Change, error)) error {
	at := store.At(nil)
	if upto > 0 {
		top, err := s.lineWhere("off + length(line) = $2", upto)
		if err != nil {
			return err
		}
		if top == nil {
			return s.corrupt("no line ends at byte %d", upto)
		}
		at = store.At(top)
	}
	change, err := decide(at)
	if err != nil || change == nil {
		return err
	}
	l, raw, err := change.Line(at, s.stamp())
	if err != nil {
		return err
	}
	if at.Top == nil {
		if err := begun(as.Begin, l); err != nil {
			return err
		}
	}
	name := Name{s.name.Project, as.Name}
	ctx, cancel := context.WithTimeout(ctx, s.db.opts.Wait)
	defer cancel()
	var id int64
	err = s.db.change(ctx, "make "+name.String(), func(tx pgx.Tx) (err error) {
		id, err = s.db.insertMachine(ctx, tx, name)
		if errors.Is(err, pgx.ErrNoRows) {
			return &refusal.RefusedError{Code: refusal.StoreError, Message: "there is a " + name.String() + " in the database already", Remedy: "take another name"}
		}
		if err == nil {
			err = s.db.linkQueued(ctx, tx, name, id)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `insert into journal (machine, seq, off, attempt, line)
			select $1, seq, off, gen_random_uuid(), line from journal where machine = $2 and off < $3`, id, s.id, upto)
		if err == nil {
			_, err = tx.Exec(ctx, "insert into journal (machine, seq, off, attempt, line) values ($1, $2, $3, $4, $5)", id, int64(l.Seq), l.Off, uuid.New(), raw)
		}
		if err == nil {
			err = setHead(ctx, tx, id, l)
		}
		return err
	})
	if err == nil {
		s.db.changed(id)
	}
	return err
}
