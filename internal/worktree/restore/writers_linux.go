package restore

import (
	"os"

	"golang.org/x/sys/unix"
)

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
