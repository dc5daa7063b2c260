package worktree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const errCrossDevice = unix.EXDEV

// exchange swaps two names in one step, whatever they lead to. The error is errors.ErrUnsupported where the system or
// the file system has no such call.
func exchange(a, b place) error {
	return renameat2(a, b, unix.RENAME_EXCHANGE)
}

// moveNew renames a to b and refuses, with fs.ErrExist, to replace anything.
func moveNew(a, b place) error {
	err := renameat2(a, b, unix.RENAME_NOREPLACE)
	if errors.Is(err, errors.ErrUnsupported) {
		err = linkNew(a, b)
	}
	return err
}

func renameat2(a, b place, flags uint) error {
	err := unix.Renameat2(int(a.dir.Fd()), a.name, int(b.dir.Fd()), b.name, flags)
	switch {
	case err == nil:
		return nil
	case err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP: // the file system, the kernel, a sandbox
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "renameat2", Old: a.path(), New: b.path(), Err: err}
}

// writers reports whether a process has the open file f open for writing, or mapped so. known is false where the system
// does not say: the file belongs to another user, or the file system has no leases. If there is no writer, none comes
// until f is closed: the kernel holds it up.
func writers(f *os.File) (busy, known bool) {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case err == nil:
		return false, true
	case err == unix.EAGAIN:
		return true, true
	}
	return false, false
}

// unwritten reports whether what [writers] has said of f still holds: nobody has asked to write since.
func unwritten(f *os.File) bool {
	lease, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	return err == nil && lease == unix.F_RDLCK
}
