package postgres

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/clock"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store/live"
)

// An ownSession was announced by this process.
type ownSession struct {
	d    *Database
	id   string
	lock *filelock.Lock
}

// Announce says that a session lives in this process: to processes of this computer by a file lock, to other computers by a row. Those
// believe the row as long as the computer is heard of.
func (s *Store) Announce(session string) (io.Closer, error) {
	failed := func(err error) error {
		return refusal.Because(refusal.StoreError, "announce the session", err, "check whether the folder of the machine can be written")
	}
	name, err := live.File(session)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.sessions.Folder(), name)), 0o700); err != nil {
		return nil, failed(err)
	}
	lock, err := s.sessions.Take(session)
	if err != nil {
		return nil, failed(err)
	}
	ctx, cancel := context.WithTimeout(s.db.ctx, s.db.opts.Wait)
	defer cancel()
	if err := s.db.heard(ctx); err == nil {
		_, err = s.db.write.Exec(ctx, "insert into session (id, node, machine) values ($1, $2, $3)", session, s.db.opts.Node, s.id)
		if err != nil {
			lock.Close()
			return nil, s.db.failed("announce the session", err)
		}
	} else {
		lock.Close()
		return nil, err
	}
	own := ownSession{s.db, session, lock}
	s.db.announced(own)
	return own, nil
}

// Close ends the session: its row first, which others believe.
func (o ownSession) Close() error {
	o.d.mu.Lock()
	delete(o.d.ours, o.id)
	o.d.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = o.d.ended(ctx, o.id) // the end of its lock tells as much
	return o.lock.Close()
}

// announced notes a session. From now on, and as long as there is one, this process says that the computer is there.
func (d *Database) announced(own ownSession) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ours[own.id] = own
	if !d.beating && d.ctx.Err() == nil {
		d.beating = true
		d.work.Go(d.beat)
	}
}

// silent reports whether no session is left for which the computer must be heard of.
func (d *Database) silent() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.beating = len(d.ours) > 0
	return !d.beating
}

// heard says that this computer is there, for the time that it may be silent.
func (d *Database) heard(ctx context.Context) error {
	sent, stamp := time.Now(), clock.Read()
	batch := &pgx.Batch{}
	batch.Queue("begin")
	batch.Queue("set local synchronous_commit = off") // others must see it while a standby is away
	batch.Queue(`insert into node (id, host, until, heard) values ($1, $2, clock_timestamp() + make_interval(secs => $3), clock_timestamp())
		on conflict (id) do update set host = excluded.host, until = greatest(node.until, excluded.until), heard = excluded.heard`, d.opts.Node, d.opts.Host, d.opts.TTL.Seconds())
	batch.Queue("commit")
	if err := d.write.SendBatch(ctx, batch).Close(); err != nil {
		return d.failed("announce this computer", err)
	}
	d.mu.Lock()
	if sent.After(d.said) {
		d.said = sent
	}
	d.mu.Unlock()
	if d.opts.Heard != nil {
		d.opts.Heard(stamp)
	}
	return nil
}

// Silent returns how long this process has not said that its computer is there, so that the database has it. Others take the computer for lost after
// Options.TTL, unless another process of it says so.
func (d *Database) Silent() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.said)
}

// beat says again and again that this computer is there, and which of its sessions have ended without a word, while this process has a session.
func (d *Database) beat() {
	every := time.NewTicker(d.opts.TTL / 5)
	defer every.Stop()
	told := false // that the database does not hear of it
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-every.C:
		}
		if d.silent() {
			return
		}
		ctx, cancel := context.WithTimeout(d.ctx, d.opts.TTL/2)
		err := d.heard(ctx)
		if err == nil {
			err = d.sweep(ctx)
		}
		if err != nil && !told && d.ctx.Err() == nil {
			d.opts.Log.Warn("other computers may take this one for lost", "error", err)
		}
		told = err != nil
		cancel()
	}
}

// sweep tells which sessions of this computer have ended without a word, of whatever machine: this process may be the only one that says that
// the computer is there, and then others would take them for alive. So has an agent that was recorded and never began, its conductor having been
// killed in between, once another computer has the post: that one waits for its end. It forgets what ended long ago.
func (d *Database) sweep(ctx context.Context) error {
	rows, err := d.read.Query(ctx, `select s.id, s.machine, m.branch, exists (select from run r join post p on p.machine = r.machine join session c on c.id = p.session
			where r.session = s.id and not r.over and c.node <> s.node)
		from session s join machine m on m.id = s.machine where s.node = $1 and s.ended is null`, d.opts.Node)
	if err != nil {
		return err
	}
	var id, branch string
	var machine int64
	var moved bool
	var over []string
	_, err = pgx.ForEachRow(rows, []any{&id, &machine, &branch, &moved}, func() error {
		d.mu.Lock()
		here := d.sessions[machine]
		d.mu.Unlock()
		if here == nil && d.opts.Folder != nil {
			here = live.In(d.opts.Folder(branch))
		}
		if here != nil && (here.Probe(id) == lease.Gone || moved && !here.Began(id)) {
			over = append(over, id)
		}
		return nil
	})
	for _, id := range over {
		err = errors.Join(err, d.ended(ctx, id))
	}
	_, old := d.write.Exec(ctx, "delete from session where node = $1 and ended < clock_timestamp() - interval '7 days'", d.opts.Node)
	return errors.Join(err, old)
}

// ended notes that a session has ended, and rings for its machine.
func (d *Database) ended(ctx context.Context, session string) error {
	var machine int64
	// On a connection for reading: somebody may ask while he holds the lock of a machine.
	err := d.read.QueryRow(ctx, "update session set ended = clock_timestamp() where id = $1 and ended is null returning machine", session).Scan(&machine)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		d.changed(machine)
	}
	return err
}

// tell tells other computers, once, that a session of this one has ended.
func (s *Store) tell(session string) {
	once, _ := s.told.LoadOrStore(session, &sync.Once{})
	once.(*sync.Once).Do(func() {
		ctx, cancel := context.WithTimeout(s.db.ctx, s.db.opts.Wait)
		defer cancel()
		if err := s.db.ended(ctx, session); err != nil && s.db.ctx.Err() == nil {
			s.db.opts.Log.Warn("the end of a session was not announced to other computers", "session", session, "error", err)
		}
	})
}

// Probe tests whether a session is alive: by its lock, if it lives on this computer, else by what its own computer has said. It tells others of the
// end of a session of this computer. It is
// lease.Lost where that computer has not been heard of for too long, and lease.Unknown where the session is not known or the database does
// not answer.
func (s *Store) Probe(session string) lease.Probe {
	name, err := live.File(session)
	if err != nil {
		return lease.Unknown
	}
	if _, err := os.Lstat(filepath.Join(s.sessions.Folder(), name)); err == nil {
		found := s.sessions.Probe(session)
		if found == lease.Gone {
			s.tell(session)
		}
		return found
	}
	if s.seen != nil {
		if is, ok := s.seen.sessions[session]; ok {
			return is.probe()
		}
	}
	ctx, cancel := context.WithTimeout(s.db.ctx, s.db.opts.Wait)
	defer cancel()
	var is sessionRow
	err = s.db.read.QueryRow(ctx, "select s.ended is not null, n.until < clock_timestamp() from session s join node n on n.id = s.node where s.id = $1", session).Scan(&is.ended, &is.lost)
	if err != nil {
		return lease.Unknown
	}
	return is.probe()
}

// A sessionRow is what the database has of a session: it has ended, or its computer is lost.
type sessionRow struct{ ended, lost bool }

func (s sessionRow) probe() lease.Probe {
	switch {
	case s.ended:
		return lease.Gone
	case s.lost:
		return lease.Lost
	}
	return lease.Alive
}

// SessionDone returns a channel that is closed soon after the end of a session's process, and tells other computers of it. It returns nil for a
// session that does not live on this computer: its end rings.
func (s *Store) SessionDone(session string) <-chan struct{} {
	done := s.sessions.Done(session)
	if done == nil {
		return nil
	}
	once, _ := s.awaited.LoadOrStore(session, &sync.Once{})
	once.(*sync.Once).Do(func() {
		s.db.work.Go(func() {
			select {
			case <-done:
				s.tell(session)
			case <-s.db.ctx.Done():
			}
		})
	})
	return done
}
