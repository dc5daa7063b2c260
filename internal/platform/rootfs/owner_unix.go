//go:build unix

package rootfs

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUser reports whether a file belongs to the user we are.
func OwnedByUser(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(sys.Uid) == os.Geteuid()
}

// OpenToOthers reports whether other users may do anything with a file.
func OpenToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
