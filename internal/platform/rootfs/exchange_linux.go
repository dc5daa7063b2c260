package rootfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const crossDevice = unix.EXDEV

func exchange(a, b Entry) error  { return renameat2(a, b, unix.RENAME_EXCHANGE) }
func renameNew(a, b Entry) error { return renameat2(a, b, unix.RENAME_NOREPLACE) }

func renameat2(a, b Entry, flags uint) error {
	err := unix.Renameat2(int(a.Dir.Fd()), a.Name, int(b.Dir.Fd()), b.Name, flags)
	switch {
	case err == nil:
		return nil
	case err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP: // the file system, the kernel, a sandbox
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "renameat2", Old: a.Path(), New: b.Path(), Err: err}
}
