//go:build !unix

package queue

import "io/fs"

// linksOf is how many names a file has. This system tells of one.
func linksOf(fs.FileInfo) int { return 1 }
