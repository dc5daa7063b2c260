package engine

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/lease"
)

var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "linux"
	}
	return strings.TrimSpace(string(id))
})

// readClock reads CLOCK_MONOTONIC, which all processes of a boot share and which stands still during suspend.
func readClock() lease.Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // the clock exists on every Linux
	}
	return lease.Instant{Boot: bootID(), Nanos: ts.Nano()}
}
