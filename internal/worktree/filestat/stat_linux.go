package filestat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lstat returns what the file system says of a file or link, in one system call.
func Lstat(path string) (Stat, error) {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Lstat(path, &st) })
	if err != nil {
		return Stat{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return statOf(&st), nil
}

// A Statter stats files of one folder after the other, by their names in the open folder. The zero value is ready.
type Statter struct {
	dir string // with a slash at its end, "" for the top
	fd  int    // of dir, plus one; 0 for none
}

// Lstat is [Lstat] of a path, with slashes, below top.
func (s *Statter) Lstat(top, name string) (Stat, error) {
	at := strings.LastIndexByte(name, '/') + 1
	if s.fd == 0 || s.dir != name[:at] {
		s.Close()
		dir, fd := filepath.Join(top, name[:at]), 0
		err := ignoringEINTR(func() (err error) {
			fd, err = unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			return err
		})
		if err != nil {
			return Stat{}, &fs.PathError{Op: "open", Path: dir, Err: err}
		}
		s.dir, s.fd = name[:at], fd+1
	}
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstatat(s.fd-1, name[at:], &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Stat{}, &fs.PathError{Op: "lstat", Path: filepath.Join(top, name), Err: err}
	}
	return statOf(&st), nil
}

// Close closes the open folder.
func (s *Statter) Close() {
	if s.fd > 0 {
		unix.Close(s.fd - 1)
		s.fd = 0
	}
}

// Fstat returns what the file system says of an open file.
func Fstat(f *os.File) (Stat, error) {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) })
	if err != nil {
		return Stat{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return statOf(&st), nil
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func statOf(st *unix.Stat_t) Stat {
	mode := fs.FileMode(st.Mode & 0o7777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	default:
		mode |= fs.ModeIrregular
	}
	return Stat{Ino: st.Ino, Size: st.Size, Mode: mode, Mtime: unix.TimespecToNsec(st.Mtim), Ctime: unix.TimespecToNsec(st.Ctim), Dev: uint64(st.Dev)}
}

// honest are the file systems on which every change of a file's content, also a store through a mapping once the file has
// been written back, moves its change time, and nobody but root can set that. Others (tmpfs, overlayfs, FUSE, 9p, NFS,
// FAT) are read each time.
var honest = map[int64]bool{
	unix.EXT4_SUPER_MAGIC:  true, // ext2, ext3 and ext4
	unix.XFS_SUPER_MAGIC:   true,
	unix.BTRFS_SUPER_MAGIC: true,
	unix.F2FS_SUPER_MAGIC:  true,
}

// Dated reports whether every change of a file's content changes its [Stat] on the file system that holds path.
func Dated(path string) bool {
	var st unix.Statfs_t
	err := ignoringEINTR(func() error { return unix.Statfs(path, &st) })
	return err == nil && honest[int64(st.Type)]
}

// WriteBack has the kernel write the file's changed pages, and waits: a page that is clean is made read-only in every
// mapping, so that the next store through one moves the change time. It is no fsync: nothing need survive a power cut.
func WriteBack(f *os.File) error {
	return ignoringEINTR(func() error {
		return unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	})
}

// Open opens a regular file, not through a link, and does not wait for the other end of a FIFO.
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// Gone reports whether an error says that there is no such file.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
