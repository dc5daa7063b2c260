//go:build !linux && !darwin

package rootfs

import (
	"errors"
	"runtime"
	"syscall"
)

var crossDevice = map[bool]error{true: syscall.Errno(17), false: syscall.EXDEV}[runtime.GOOS == "windows"] // ERROR_NOT_SAME_DEVICE

func exchange(Entry, Entry) error { return errors.ErrUnsupported }

func renameNew(Entry, Entry) error { return errors.ErrUnsupported }
