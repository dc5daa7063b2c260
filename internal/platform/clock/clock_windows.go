package clock

import (
	"golang.org/x/sys/windows"

	"github.com/ferrus-go/ferrus/internal/lease"
)

// Read reads the time since boot. Windows gives a boot no name; a deadline of an earlier boot lies further ahead
// than any lease runs, and is therefore not believed.
func Read() lease.Instant {
	return lease.Instant{Boot: "windows", Nanos: int64(windows.DurationSinceBoot())}
}
