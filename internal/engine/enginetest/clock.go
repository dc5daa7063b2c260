package enginetest

import (
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
)

// A Dial is a clock that is moved by hand.
type Dial struct {
	Mu sync.Mutex
	At time.Duration
}

func (c *Dial) Pass(d time.Duration) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.At += d
}

func (c *Dial) Instant() lease.Instant {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return lease.Instant{Boot: "b", Nanos: int64(time.Hour + c.At)}
}

func (c *Dial) Now() time.Time {
	return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.Instant().Nanos))
}

// Clocked lets the project's engines live by a clock.
func (p *Machine) Clocked() *Dial {
	c := &Dial{}
	p.Opts.Clock, p.Opts.Now = c.Instant, c.Now
	return c
}

// Day is a day as the tests of time spans know it.
const Day = 24 * time.Hour

// Month is long enough for everything to be old.
const Month = 30 * Day
