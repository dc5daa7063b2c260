//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget drops what the terminal has sent and nobody has read: answers to a screen that has ended would be taken for
// commands by the shell.
func forget(in *os.File) {
	const read = 1
	_ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, read)
}
