//go:build !linux

package file

import "io/fs"

// lockHolder returns "": this system does not tell.
func lockHolder(fs.FileInfo) string { return "" }
