package clock

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/lease"
)

var bootID = sync.OnceValue(func() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "darwin"
	}
	return id
})

// Read reads CLOCK_UPTIME_RAW, which all processes of a boot share and which stands still during sleep.
func Read() lease.Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &ts); err != nil {
		panic(err) // the clock exists on every macOS
	}
	return lease.Instant{Boot: bootID(), Nanos: ts.Nano()}
}
