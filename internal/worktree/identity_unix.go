//go:build unix

package worktree

import "golang.org/x/sys/unix"

// nonBlocking opens a pipe without a process at its other end.
const nonBlocking = unix.O_NONBLOCK

// An identity is what a file system says of a file that is another whenever the file was changed, replaced or renamed,
// where its change times are honest. The device is not in it: it changes over reboots.
type identity struct {
	inode, links uint64
	size         int64
	mode         uint32
	mtime, ctime int64 // nanoseconds
}

// identify returns the identity of a file itself, not of what a link leads to.
func identify(path string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return identity{}, err
	}
	return identity{inode: uint64(st.Ino), links: uint64(st.Nlink), size: st.Size, mode: uint32(st.Mode),
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}, nil
}
