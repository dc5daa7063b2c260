//go:build !linux

package store

import (
	"io/fs"
	"os"
)

const lockFlags = os.O_RDWR

// lockHolder cannot tell who it is on this system.
func lockHolder(fs.FileInfo) string { return "another process" }
