package clock

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

// clockName names the time namespace of this process, "" for the machine's own: the clocks of two namespaces differ by
// whatever somebody has set.
var clockName = sync.OnceValue(func() string {
	const own = "time:[4026531834]" // PROC_TIME_INIT_INO of the kernel
	if name, err := os.Readlink("/proc/self/ns/time"); err == nil && name != own {
		return name
	}
	return ""
})

// Read reads CLOCK_MONOTONIC, which all processes of a boot and a time namespace share and which stands still during suspend.
func Read() lease.Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // the clock exists on every Linux
	}
	return lease.Instant{Boot: bootID(), Clock: clockName(), Nanos: ts.Nano()}
}
