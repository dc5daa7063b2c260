//go:build !unix

package tokens

import "io/fs"

// ours reports whether a file belongs to this user. This system keeps that elsewhere.
func ours(fs.FileInfo) bool { return true }
