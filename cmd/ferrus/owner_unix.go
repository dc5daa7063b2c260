//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to the user we are.
func ours(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(sys.Uid) == os.Geteuid()
}

// openToOthers reports whether other users may do anything with a file.
func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
