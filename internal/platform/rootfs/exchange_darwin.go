package rootfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const crossDevice = unix.EXDEV

func exchange(a, b Entry) error  { return renameatx(a, b, unix.RENAME_SWAP) }
func renameNew(a, b Entry) error { return renameatx(a, b, unix.RENAME_EXCL) }

func renameatx(a, b Entry, flags uint32) error {
	err := unix.RenameatxNp(int(a.Dir.Fd()), a.Name, int(b.Dir.Fd()), b.Name, flags)
	switch {
	case err == nil:
		return nil
	case err == unix.EINVAL || err == unix.ENOTSUP:
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "renameatx_np", Old: a.Path(), New: b.Path(), Err: err}
}
