package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A head is the row at which the journal of a machine ends, with its lease and the newest line.
type head struct {
	seq, epoch  int64
	bytes, last int64
	h           []byte
	closed      bool

	now              time.Time // of the server
	leaseEpoch       int64
	boot, clock      string
	deadline, ttl    int64
	until, heartbeat *time.Time

	copied newest // the newest files of the task

	line []byte // the newest one; nil where the reader has it, or there is none
}

const (
	headColumns = `h.seq, h.epoch, h.bytes, h.last, h.h, h.closed`
	restColumns = `clock_timestamp(), l.epoch, l.boot, l.clock, l.deadline_ns, l.ttl_ns, l.until, l.heartbeat`
	copyColumns = `p.home = $3, p.host, p.home_seq, p.files`
	newestLine  = `(select j.line from journal j where j.machine = h.machine and j.seq = h.seq and h.h <> $2)`
	lockHead    = `select ` + headColumns + ` from head h where h.machine = $1 for update`
	// In a statement of its own, after the lock: a statement that has waited sees a new head, an old lease and the time before.
	readRest = `select ` + restColumns + `, ` + copyColumns + `, ` + newestLine + from
	readAll  = `select ` + headColumns + `, ` + restColumns + `, ` + copyColumns + `, ` + newestLine + from
	from     = ` from head h join lease l using (machine) left join post p using (machine) where machine = $1`
)

func (h *head) first() []any {
	return []any{&h.seq, &h.epoch, &h.bytes, &h.last, &h.h, &h.closed}
}

func (h *head) rest() []any {
	return []any{&h.now, &h.leaseEpoch, &h.boot, &h.clock, &h.deadline, &h.ttl, &h.until, &h.heartbeat, &h.copied.here, &h.copied.host, &h.copied.seq, &h.copied.files, &h.line}
}

// hash returns the hash of a line as the head has it; nil for no line.
func hash(l *store.Line) []byte {
	if l == nil {
		return []byte{}
	}
	raw, _ := hex.DecodeString(l.H)
	return raw
}

// snapshot returns the machine that a head describes. known is the line that the reader had.
func (s *Store) snapshot(h head, known *store.Line) (store.Snapshot, error) {
	s.db.clock.read(h.now)
	if h.closed {
		return store.Snapshot{}, s.gone()
	}
	top := known
	switch {
	case h.seq == 0:
		top = nil
	case h.line != nil:
		var err error
		if top, err = store.Decode(h.line, h.last); err != nil {
			return store.Snapshot{}, s.corrupt("line %d is not valid: %v", h.seq, err)
		}
	}
	if top != nil && (top.Seq != uint64(h.seq) || top.End != h.bytes || hex.EncodeToString(h.h) != top.H || top.Epoch != uint64(h.epoch)) {
		return store.Snapshot{}, s.corrupt("line %d is not the one at which the journal ends", h.seq)
	}
	if top == nil && h.seq != 0 {
		return store.Snapshot{}, s.corrupt("line %d, at which the journal ends, is missing", h.seq)
	}
	snap := store.At(top)
	if snap.Task.ClaimedBy != "" && uint64(h.leaseEpoch) == snap.Task.Epoch {
		snap.Lease = store.Lease{Term: lease.Term{Boot: h.boot, Clock: h.clock, DeadlineNS: h.deadline, TTLNS: h.ttl}, Until: at(h.until), Heartbeat: at(h.heartbeat)}
	}
	snap.Files = h.copied.value()
	return snap, nil
}

// newest is what copyColumns have, null where nobody has conducted the task or named a tree.
type newest struct {
	here        *bool
	host, files *string
	seq         *int64
}

func (n newest) value() store.Copy {
	if n.seq == nil {
		return store.Copy{}
	}
	c := store.Copy{Host: *n.host, Here: n.here != nil && *n.here, Seq: uint64(*n.seq)}
	if c.Elsewhere() {
		c.Commit = *n.files
	}
	return c
}

// at returns the time of a column in UTC, the zero time for null.
func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// column is at backwards.
func column(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *Store) corrupt(format string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.Corrupt, Message: "the journal of " + s.name.String() + " in PostgreSQL: " + fmt.Sprintf(format, args...),
		Remedy: "nothing was changed; restore the database from a backup, or import the newest export: ferrus store import"}
}

// View returns the present machine in one statement, or as a survey has it.
func (s *Store) View() (store.Snapshot, error) {
	if s.seen != nil {
		return s.seen.snap, s.db.failed("read "+s.name.String(), s.seen.err)
	}
	var snap store.Snapshot
	var when time.Time
	err := s.db.query(s.db.ctx, func(ctx context.Context) error {
		known := s.known()
		var h head
		err := s.db.read.QueryRow(ctx, readAll, s.id, hash(known), s.db.opts.Node).Scan(append(h.first(), h.rest()...)...)
		switch {
		case err == nil:
			snap, err = s.snapshot(h, known)
			when = h.now
		case errors.Is(err, pgx.ErrNoRows):
			err = s.gone()
		}
		return err
	})
	if err != nil {
		return store.Snapshot{}, s.db.failed("read "+s.name.String(), err)
	}
	s.remember(snap, when)
	return snap, nil
}
