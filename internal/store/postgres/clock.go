package postgres

import (
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
)

// dbClock is the clock of the database server as this process knows it: the newest reading, and how long ago that was.
type dbClock struct {
	mu   sync.Mutex
	was  time.Time // of the server
	here time.Time // when it arrived, with the monotonic clock of this process
}

// read notes a reading of the server's clock.
func (c *dbClock) read(was time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.was, c.here = was, time.Now()
}

// now returns the time of the server; that of this computer before the first reading.
func (c *dbClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.here.IsZero() {
		return time.Now()
	}
	return c.was.Add(time.Since(c.here))
}

// stamp is the wall clock as it is written: UTC, in milliseconds.
func (s *Store) stamp() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// clockName stands for a boot in the terms of leases: all computers measure by the clock of one database.
const clockName = "postgres"

// Clock reads the clock of the database, as it was with the newest answer of the server.
func (s *Store) Clock() lease.Instant {
	return lease.Instant{Boot: clockName, Nanos: s.db.clock.now().UnixNano()}
}
