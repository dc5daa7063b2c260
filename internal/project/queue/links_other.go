//go:build !unix

package queue

import "io/fs"

// linksOf returns the number of names of a file. This system reports only one.
func linksOf(fs.FileInfo) int { return 1 }
