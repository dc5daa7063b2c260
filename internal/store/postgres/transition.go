package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A writing is what a transition writes.
type writing struct {
	before, after store.Snapshot
	line          *store.Line // nil for a renewal
	raw           []byte      // of the line
}

// A decision returns what a transition writes to the machine as it is; nil for nothing.
type decision func(now store.Snapshot) (*writing, error)

// Apply is [store.Machine.Apply]. It locks the head, reads, decides, and writes on condition that the head is the one that was read.
//
// All attempts to commit have the same attempt id. Where the answer to a commit was lost, the attempt is looked up on a new connection,
// under the lock, for which an attempt that is still at work lets it wait. One that is not found is decided anew. Nothing is said after a
// lost answer without another commit that was acknowledged: until then a primary may show what no standby has, or be one no more. The same
// holds for a nil change, which says that the newest line stands. Code OutcomeUnknown means that there was no answer in time.
func (s *Store) Apply(ctx context.Context, decide func(now store.Snapshot) (*store.Change, error)) (store.Snapshot, error) {
	return s.transact(ctx, func(now store.Snapshot) (*writing, error) {
		change, err := decide(now)
		if err != nil || change == nil {
			return nil, err
		}
		l, raw, err := change.Line(now, s.stamp())
		if err != nil {
			return nil, err
		}
		if now.Top == nil {
			if err := begun(s.begin, l); err != nil {
				return nil, err
			}
		}
		return &writing{before: now, after: change.After(now, l), line: l, raw: raw}, nil
	})
}

// begun has the hash of a journal's first line recorded before the line is written.
func begun(begin func(hash string) error, l *store.Line) error {
	if begin == nil {
		return nil
	}
	if err := begin(l.H); err != nil {
		return refusal.Because(refusal.StoreError, "record the journal's first line", err,
			"nothing was changed: make the state folder writable, then try again")
	}
	return nil
}

// Renew is [store.Machine.Renew]. It is acknowledged without waiting for the disk.
func (s *Store) Renew(ctx context.Context, decide func(now store.Snapshot) (store.Lease, error)) (store.Snapshot, error) {
	return s.transact(ctx, func(now store.Snapshot) (*writing, error) {
		term, err := decide(now)
		if err != nil {
			return nil, err
		}
		w := &writing{before: now, after: now}
		w.after.Lease = term
		return w, nil
	})
}

// transact makes one transition and returns the machine after it.
func (s *Store) transact(ctx context.Context, do decision) (store.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, s.db.opts.Wait)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return store.Snapshot{}, s.late(ctx, nil)
	}
	t := &transition{s: s, id: uuid.New(), do: do}
	var failure error // why the newest attempt that ended by itself came to nothing
	for try := 0; ; try++ {
		err := t.attempt(ctx)
		switch {
		case err == nil:
			s.remember(t.after, s.db.clock.now())
			if t.ring != nil {
				t.ring(s.id)
			}
			return t.after, t.refused
		case errors.As(err, &t.lost), errors.Is(err, context.DeadlineExceeded):
			s.db.reconnect()
		}
		if ctx.Err() == nil {
			failure = err
		}
		if (errors.As(err, new(*lostAnswer)) || transient(err)) && wait(ctx, try) {
			continue
		}
		switch {
		case t.lost != nil:
			return t.after, s.db.unknown("change "+s.name.String(), t.lost)
		case ctx.Err() != nil:
			return t.after, s.late(ctx, failure)
		}
		return t.after, s.db.failed("change "+s.name.String(), err)
	}
}

// late is the error of a transition that changed nothing in its time. failure is why its last attempt ended, nil if none did.
func (s *Store) late(ctx context.Context, failure error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case failure != nil:
		return s.db.failed("change "+s.name.String(), failure)
	}
	return &refusal.RefusedError{Code: refusal.LockBusy, Message: fmt.Sprintf("PostgreSQL did not give the lock of %s for %v", s.name, s.db.opts.Wait),
		Remedy: "nothing was changed: check that the server answers, then try again"}
}

// A lostAnswer is the error of a commit that may stand.
type lostAnswer struct{ err error }

func (e *lostAnswer) Error() string { return "the answer was lost: " + e.err.Error() }

// A transition is one call of Apply or Renew, with all its attempts.
type transition struct {
	s     *Store
	id    [16]byte // of all attempts
	do    decision
	lost  *lostAnswer         // of an earlier attempt; nil for none
	after store.Snapshot      // the machine after the last attempt
	ring  func(machine int64) // for those who do not know of what was written yet; nil where nothing was

	refused error // of the decision
}

// attempt makes one attempt.
func (t *transition) attempt(ctx context.Context) error {
	s := t.s
	pooled, err := s.db.write.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Conn()
	defer pooled.Release() // the pool closes a connection whose transaction did not end

	known := s.known()
	var h head
	var off *int64 // of the line of an earlier attempt
	var own []byte
	batch := &pgx.Batch{}
	batch.Queue("begin")
	batch.Queue(lockHead, s.id).QueryRow(func(row pgx.Row) error { return row.Scan(h.first()...) })
	batch.Queue(readRest, s.id, hash(known), [16]byte(s.db.opts.Node)).QueryRow(func(row pgx.Row) error { return row.Scan(h.rest()...) })
	if t.lost != nil {
		batch.Queue("select off, line from (select) one left join journal on attempt = $1", t.id).QueryRow(func(row pgx.Row) error { return row.Scan(&off, &own) })
	}
	if err := conn.SendBatch(ctx, batch).Close(); errors.Is(err, pgx.ErrNoRows) {
		return s.gone()
	} else if err != nil {
		return err
	}
	now, err := s.snapshot(h, known)
	if err != nil {
		return err
	}
	t.after, t.refused = now, nil
	if off != nil { // it is the newest line or has followers
		l, err := store.Decode(own, *off)
		if err != nil {
			return s.corrupt("the line of an attempt is not valid: %v", err)
		}
		if now.Top.H != l.H {
			t.after = store.At(l)
		}
		t.ring = s.db.changed
		return t.seal(conn)
	}
	w, err := t.do(now)
	t.refused = err
	switch {
	case w != nil && err == nil:
		return t.write(conn, h, w)
	case t.lost == nil && (err != nil || s.acknowledged(now)):
		rollback(ctx, conn)
		return nil
	}
	return t.seal(conn)
}

// rollback ends a transaction without a change. The pool closes the connection if that does not work.
func rollback(ctx context.Context, conn *pgx.Conn) { _, _ = conn.Exec(ctx, "rollback") }

// write writes what was decided of the machine with a head, and commits.
func (t *transition) write(conn *pgx.Conn, h head, w *writing) error {
	s := t.s
	batch := &pgx.Batch{}
	var written int64
	count := func(tag pgconn.CommandTag) error { written = tag.RowsAffected(); return nil }
	if l := w.line; l == nil {
		batch.Queue("set local synchronous_commit = off")
		s.writeLease(batch, w.after, h.epoch, h.h).Exec(count)
	} else {
		batch.Queue(`with moved as (update head set seq = $2, epoch = $3, bytes = $4, last = $5, h = $6
			where machine = $1 and seq = $7 and epoch = $8 and h = $9 returning machine)
			insert into journal (machine, seq, off, attempt, line) select machine, $2, $5, $10, $11 from moved`,
			s.id, int64(l.Seq), int64(l.Epoch), l.End, l.Off, hash(l), h.seq, h.epoch, h.h, t.id, w.raw).Exec(count)
		if w.after.Lease != w.before.Lease || l.Epoch != w.before.Task.Epoch {
			s.writeLease(batch, w.after, int64(l.Epoch), hash(l))
		}
		w.after.Files = w.before.Files
		if l.Event == state.Claim || w.after.Task.Trees() != w.before.Task.Trees() {
			w.after.Files = store.Copy{Host: s.db.opts.Host, Here: true, Seq: l.Seq}
			s.writeHome(batch, int64(l.Seq), hash(l))
		}
	}
	if err := s.db.commit(conn, batch, s.id); err != nil {
		return err
	}
	if written != 1 {
		return fmt.Errorf("%w: the head has moved on", errBroken)
	}
	t.after, t.ring = w.after, s.db.notify
	if w.line != nil {
		s.acknowledge(w.line.H)
	}
	return nil
}

// writeLease queues the update of the lease on condition that the head is at a line.
func (s *Store) writeLease(batch *pgx.Batch, snap store.Snapshot, epoch int64, h []byte) *pgx.QueuedQuery {
	l := snap.Lease
	return batch.Queue(`update lease set epoch = $2, boot = $3, clock = $4, deadline_ns = $5, ttl_ns = $6, until = $7, heartbeat = $8
		where machine = $1 and exists (select from head where machine = $1 and epoch = $2 and h = $9)`,
		s.id, epoch, l.Term.Boot, l.Term.Clock, l.Term.DeadlineNS, l.Term.TTLNS, column(l.Until), column(l.Heartbeat), h)
}

// seal makes another commit, of nothing new. When it has been acknowledged, so has everything that the transaction read.
func (t *transition) seal(conn *pgx.Conn) error {
	batch := &pgx.Batch{}
	batch.Queue("update head set seq = seq where machine = $1", t.s.id)
	if err := t.s.db.commit(conn, batch, 0); err != nil {
		return err
	}
	t.s.acknowledge(t.after.Journal.H)
	return nil
}

// commit sends a batch, commits, and rings for a machine, 0 for none, in one round trip. After a *lostAnswer nobody knows whether it is
// committed, after another error it is not. The caller's end does not end it, so that what is committed is known.
func (d *Database) commit(conn *pgx.Conn, batch *pgx.Batch, machine int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.opts.Wait)
	defer cancel()
	warned(conn)
	tag := ""
	var warning *pgconn.Notice
	batch.Queue("commit").Exec(func(t pgconn.CommandTag) error {
		tag, warning = t.String(), warned(conn)
		return nil
	})
	if machine != 0 {
		queueRing(batch, machine)
	}
	err := conn.SendBatch(ctx, batch).Close()
	var refused *pgconn.PgError
	switch {
	case tag == "COMMIT" && warning != nil: // an acknowledgement that a standby did not give
		err = errors.New(warning.Message)
	case tag == "COMMIT":
		if err != nil { // of the ring, which the tick makes good
			conn.Close(ctx)
		}
		return nil
	case errors.As(err, &refused) && refused.SeverityUnlocalized == "ERROR": // which no transaction survives, and no commit that is done has
		return err
	case err == nil: // the answer to a transaction that has failed
		return &lostAnswer{errors.New("the server answered " + tag)}
	}
	conn.Close(ctx)
	return &lostAnswer{err}
}

// acknowledge notes that a line is known to stand.
func (s *Store) acknowledge(h string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stands = h
}

// acknowledged reports whether the newest line is known to stand.
func (s *Store) acknowledged(now store.Snapshot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stands == now.Journal.H
}

var _ store.Machine = (*Store)(nil)
