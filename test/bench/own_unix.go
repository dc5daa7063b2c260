//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// own is the processor time of this process and of those below it that have ended.
func own() (used time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			used += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return used
}
