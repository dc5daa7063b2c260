package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
)

// channel is what is rung after a commit, with the number of a machine.
const channel = "ferrus"

// tick is the interval of notifications without a change: a ring that was lost is made good by it.
const tick = time.Second

// changed rings for a machine: in this process at once, elsewhere in the background and after the commit. Within the transaction a ring would
// serialise the commits of the whole database.
func (d *Database) changed(machine int64) {
	d.notify(machine)
	select {
	case d.rings <- machine:
	default: // the tick makes it good
	}
}

// ring sends rings that wait, each machine once.
func (d *Database) ring() {
	for {
		due := map[int64]bool{}
		select {
		case m := <-d.rings:
			due[m] = true
		case <-d.ctx.Done():
			return
		}
		for more := true; more; {
			select {
			case m := <-d.rings:
				due[m] = true
			default:
				more = false
			}
		}
		batch := &pgx.Batch{}
		batch.Queue("set local synchronous_commit = off") // nothing of it is on the disk
		for m := range due {
			batch.Queue("select pg_notify($1, $2)", channel, strconv.FormatInt(m, 10))
		}
		ctx, cancel := context.WithTimeout(d.ctx, d.opts.Wait)
		if err := d.read.SendBatch(ctx, batch).Close(); err != nil && d.ctx.Err() == nil {
			d.opts.Log.Debug("a change was not announced to other computers, which see it within a second", "error", err)
		}
		cancel()
	}
}

// notify notifies the watchers of a machine in this process, of every machine for 0.
func (d *Database) notify(machine int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for m, all := range d.watchers {
		if machine != 0 && m != machine {
			continue
		}
		for c := range all {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}

// listen waits for rings on a connection of its own. After each new connection it notifies everybody: rings may have been missed.
func (d *Database) listen() {
	for try := 0; ; try++ {
		conn, err := pgx.ConnectConfig(d.ctx, d.config)
		if err == nil {
			if _, err = conn.Exec(d.ctx, "listen "+channel); err == nil {
				try = 0
				d.notify(0)
				d.hear(conn)
			}
			end, cancel := context.WithTimeout(context.Background(), time.Second)
			conn.Close(end)
			cancel()
		}
		if d.ctx.Err() != nil || !wait(d.ctx, try) {
			return
		}
	}
}

// hear passes rings on until the connection ends.
func (d *Database) hear(conn *pgx.Conn) {
	for {
		n, err := conn.WaitForNotification(d.ctx)
		if err != nil {
			return
		}
		if m, err := strconv.ParseInt(n.Payload, 10, 64); err == nil {
			d.notify(m)
		}
	}
}

// Watch starts a watcher. It is notified after each change that was announced, and each second.
func (s *Store) Watch() *store.Watcher {
	c, done := make(chan struct{}, 1), make(chan struct{})
	d := s.db
	d.mu.Lock()
	if d.watchers[s.id] == nil {
		d.watchers[s.id] = map[chan struct{}]bool{}
	}
	d.watchers[s.id][c] = true
	d.mu.Unlock()
	go func() {
		every := time.NewTicker(tick)
		defer every.Stop()
		for {
			select {
			case <-done:
				return
			case <-every.C:
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
	}()
	return store.NewWatcher(c, func() {
		close(done)
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers[s.id], c)
	})
}
