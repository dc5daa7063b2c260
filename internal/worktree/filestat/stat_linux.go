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

// Open opens a regular file and does not wait for the other end of a FIFO. No part of the path may be a link: whoever works in a work
// tree could put one in the place of a folder meanwhile, and have a file from elsewhere read.
func Open(path string) (*os.File, error) {
	f, err := unlinked(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if errors.Is(err, errors.ErrUnsupported) {
		return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	return f, err
}

// Readlink returns where a link leads. No folder of its path may be one, as for [Open].
func Readlink(path string) (string, error) {
	f, err := unlinked(path, unix.O_PATH|unix.O_NOFOLLOW)
	if errors.Is(err, errors.ErrUnsupported) {
		return os.Readlink(path)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(f.Fd()), "", target)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: path, Err: err}
	}
	return string(target[:n]), nil
}

// unlinked opens a path without links. The error is errors.ErrUnsupported where the kernel, before 5.6, or a container cannot.
func unlinked(path string, flags int) (*os.File, error) {
	var fd int
	err := ignoringEINTR(func() (err error) {
		fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS})
		return err
	})
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // no file is refused with EPERM for reading
		return nil, errors.ErrUnsupported
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Gone reports whether an error says that there is no such file, or that a link has taken the place of a folder of its path.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
