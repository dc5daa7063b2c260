//go:build unix

package rootfs

import "syscall"

// nonblock keeps an open of a FIFO or a device from waiting, where one was put in place of a file meanwhile.
const nonblock = syscall.O_NONBLOCK
