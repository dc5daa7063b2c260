//go:build unix

package demo

import (
	"os"
	"syscall"
)

// stall stops a process as a debugger or a suspended terminal would.
func stall(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// proceed lets a stalled process go on.
func proceed(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }
