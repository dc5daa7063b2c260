//go:build !linux

package store

import "io/fs"

// lockHolder returns "": this system does not tell.
func lockHolder(fs.FileInfo) string { return "" }
