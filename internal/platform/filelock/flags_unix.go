//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK // nor is a named pipe waited for

	// look is how a file is opened to be looked at: one that cannot be written may be, and a named pipe does not block.
	look = os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW
)
