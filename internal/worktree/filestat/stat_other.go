//go:build !linux

package filestat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Lstat knows no inode and no change time here: see [Dated].
func Lstat(path string) (Stat, error) { return statted(os.Lstat(path)) }

// A Statter stats files of one folder after the other.
type Statter struct{}

// Lstat is [Lstat] of a path, with slashes, below top.
func (*Statter) Lstat(top, name string) (Stat, error) {
	return Lstat(filepath.Join(top, filepath.FromSlash(name)))
}

// Close does nothing.
func (*Statter) Close() {}

// Fstat returns what the file system says of an open file.
func Fstat(f *os.File) (Stat, error) { return statted(f.Stat()) }

func statted(info fs.FileInfo, err error) (Stat, error) {
	if err != nil {
		return Stat{}, err
	}
	return Stat{Size: info.Size(), Mode: info.Mode(), Mtime: info.ModTime().UnixNano(), Ctime: info.ModTime().UnixNano()}, nil
}

// Dated: whether a store through a mapping moves a change time was measured on Linux only, so files are read each time.
func Dated(string) bool { return false }

// WriteBack does nothing: no file is known again here.
func WriteBack(*os.File) error { return nil }

// Open opens a regular file. The caller has seen that it is one.
func Open(path string) (*os.File, error) { return os.Open(path) }

// Readlink returns where a link leads.
func Readlink(path string) (string, error) { return os.Readlink(path) }

// Gone reports whether an error says that there is no such file.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
