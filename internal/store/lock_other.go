//go:build !linux

package store

import "io/fs"

// lockHolder cannot tell who it is on this system.
func lockHolder(fs.FileInfo) string { return "" }
