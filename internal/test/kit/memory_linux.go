package kit

import "golang.org/x/sys/unix"

// room is how many bytes must be free in memory: a package's tests use a tenth of it at a time.
const room = 2 << 30

// memory returns a folder that is in memory and has room, "" where there is none.
func memory() string {
	const dir = "/dev/shm"
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil || fs.Type != unix.TMPFS_MAGIC || fs.Bavail*uint64(fs.Bsize) < room || unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	return dir
}
