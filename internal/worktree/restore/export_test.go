package restore

import (
	"errors"
	"os"
	"time"
)

// Hooked replaces what a Restore asks of the system; what is nil stays.
func (t *WorkTree) Hooked(at func(path string), noExchange bool, now func() time.Time, pause func(time.Duration)) {
	t.hooks = hooks{at: at, now: now, pause: pause}
	if noExchange {
		t.hooks.exchange = func(place, place) error { return errors.ErrUnsupported }
	}
	if pause != nil {
		t.hooks.writers = func(*os.File) (bool, bool) { return false, false }
	}
}

// Grace is how long a file that came out is left to programs that may have it open.
const Grace = grace
