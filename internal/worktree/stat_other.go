//go:build !linux

package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lstat knows no inode and no change time here: see dated.
func lstat(path string) (fileStat, error) { return statted(os.Lstat(path)) }

// A statter stats files below a folder.
type statter struct{}

func (*statter) lstat(top, name string) (fileStat, error) {
	return lstat(filepath.Join(top, filepath.FromSlash(name)))
}

func (*statter) close() {}

func fstat(f *os.File) (fileStat, error) { return statted(f.Stat()) }

func statted(info fs.FileInfo, err error) (fileStat, error) {
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{size: info.Size(), mode: info.Mode(), mtime: info.ModTime().UnixNano(), ctime: info.ModTime().UnixNano()}, nil
}

// dated: whether a store through a mapping moves a change time was measured on Linux only, so files are read each time.
func dated(string) bool { return false }

func writeBack(*os.File) error { return nil }

// openFile opens a regular file. The caller has seen that it is one.
func openFile(path string) (*os.File, error) { return os.Open(path) }

// gone reports whether an error says that there is no such file.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
