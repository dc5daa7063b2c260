//go:build unix

package queue

import (
	"io/fs"
	"syscall"
)

// linksOf returns the number of names of a file.
func linksOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}
