//go:build !unix

package worktree

import "os"

const nonBlocking = 0

// An identity is what is known of a file without its content. Here it is never enough: see honestTimes.
type identity struct {
	links        uint64
	size         int64
	mtime, ctime int64
}

func identify(path string) (identity, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return identity{}, err
	}
	return identity{links: 1, size: info.Size(), mtime: info.ModTime().UnixNano()}, nil
}
