package worktree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const errCrossDevice = unix.EXDEV

// exchange swaps two names in one step, whatever they lead to. The error is errors.ErrUnsupported where the file system
// has no such call.
func exchange(a, b place) error {
	return renameatx(a, b, unix.RENAME_SWAP)
}

// moveNew renames a to b and refuses, with fs.ErrExist, to replace anything.
func moveNew(a, b place) error {
	err := renameatx(a, b, unix.RENAME_EXCL)
	if errors.Is(err, errors.ErrUnsupported) {
		err = linkNew(a, b)
	}
	return err
}

func renameatx(a, b place, flags uint32) error {
	err := unix.RenameatxNp(int(a.dir.Fd()), a.name, int(b.dir.Fd()), b.name, flags)
	switch {
	case err == nil:
		return nil
	case err == unix.EINVAL || err == unix.ENOTSUP:
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "renameatx_np", Old: a.path(), New: b.path(), Err: err}
}

// writers cannot be known: macOS tells nobody but the kernel who has a file open.
func writers(*os.File) (busy, known bool) { return false, false }

func unwritten(*os.File) bool { return true }
