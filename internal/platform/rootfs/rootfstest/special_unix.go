//go:build unix

package rootfstest

import (
	"os"
	"syscall"
)

// special are the kinds of this system.
var special = []entry{
	{"FIFO", func(path, _ string) error { return syscall.Mkfifo(path, 0o600) }},
	{"link to /dev/zero", func(path, _ string) error { return os.Symlink("/dev/zero", path) }},
}
