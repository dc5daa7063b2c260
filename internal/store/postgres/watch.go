package postgres

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
)

// channel is what is rung after a commit, with the number of a machine.
const channel = "ferrus"

// tick is the interval of notifications without a change: a ring that was lost is made good by it.
const tick = time.Second

// changed rings for a machine: in this process at once, elsewhere in the background.
func (d *Database) changed(machine int64) {
	d.notify(machine)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.due[machine] = true
	if !d.ringing && d.ctx.Err() == nil {
		d.ringing = true
		d.work.Go(d.ring)
	}
}

// ring sends the rings that are due, each machine once, until none is. One that is lost is made good by the tick.
func (d *Database) ring() {
	for {
		d.mu.Lock()
		due := d.due
		d.due = map[int64]bool{}
		d.ringing = len(due) > 0
		d.mu.Unlock()
		if len(due) == 0 {
			return
		}
		batch := &pgx.Batch{}
		for m := range due {
			queueRing(batch, m)
		}
		ctx, cancel := context.WithTimeout(d.ctx, d.opts.Wait)
		if err := d.read.SendBatch(ctx, batch).Close(); err != nil && d.ctx.Err() == nil {
			d.opts.Log.Debug("a change was not announced to other computers, which see it within a second", "error", err)
		}
		cancel()
	}
}

// queueRing queues a ring for a machine, in a transaction of its own. It waits for no disk and no standby: it writes nothing. Within the
// transaction that changed the machine it would let only one commit of the whole database pass at a time.
func queueRing(batch *pgx.Batch, machine int64) {
	batch.Queue("select pg_notify($1, $2)", channel, strconv.FormatInt(machine, 10))
}

// everyMachine stands for all machines of the database, as what has changed and as what is watched.
const everyMachine = 0

// notify notifies the watchers of a machine in this process.
func (d *Database) notify(machine int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for m, all := range d.watchers {
		if machine != everyMachine && m != machine && m != everyMachine {
			continue
		}
		for c := range all {
			ring(c)
		}
	}
}

// listen waits for rings on a connection of its own, until ctx ends. After each new connection it notifies everybody: rings may have been missed.
func (d *Database) listen(ctx context.Context) {
	for try := 0; ; try++ {
		conn, err := pgx.ConnectConfig(ctx, d.config)
		if err == nil {
			if _, err = conn.Exec(ctx, "listen "+channel); err == nil {
				try = 0
				d.notify(everyMachine)
				d.hear(ctx, conn)
			}
			end, cancel := context.WithTimeout(context.Background(), time.Second)
			conn.Close(end)
			cancel()
		}
		if ctx.Err() != nil || !wait(ctx, try) {
			return
		}
	}
}

// hear passes rings on until the connection ends.
func (d *Database) hear(ctx context.Context, conn *pgx.Conn) {
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		if m, err := strconv.ParseInt(n.Payload, 10, 64); err == nil {
			d.notify(m)
		}
	}
}

// Watch starts a watcher. It is notified after each change that was announced, and each second.
func (s *Store) Watch() *store.Watcher { return s.db.watcher(s.id) }

// watcher starts a watcher of a machine.
func (d *Database) watcher(machine int64) *store.Watcher {
	c, done := make(chan struct{}, 1), make(chan struct{})
	d.watch(machine, c)
	go func() {
		every := time.NewTicker(tick)
		defer every.Stop()
		for {
			select {
			case <-done:
				return
			case <-every.C:
				ring(c)
			}
		}
	}()
	return store.NewWatcher(c, sync.OnceFunc(func() {
		close(done)
		d.unwatch(machine, c)
	}))
}

// ring notifies a watcher.
func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// watch adds a watcher of a machine. The first one of the process makes it listen.
func (d *Database) watch(machine int64, c chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.watchers) == 0 && d.ctx.Err() == nil {
		ctx, cancel := context.WithCancel(d.ctx)
		d.deaf = cancel
		d.work.Go(func() { d.listen(ctx) })
	}
	if d.watchers[machine] == nil {
		d.watchers[machine] = map[chan struct{}]bool{}
	}
	d.watchers[machine][c] = true
}

// unwatch removes a watcher. After the last one nobody listens.
func (d *Database) unwatch(machine int64, c chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.watchers[machine], c)
	if len(d.watchers[machine]) == 0 {
		delete(d.watchers, machine)
	}
	if len(d.watchers) == 0 && d.deaf != nil {
		d.deaf()
		d.deaf = nil
	}
}
