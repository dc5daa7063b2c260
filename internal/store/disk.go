package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A disk is every operation on files that the store makes, so that a test can fail, shorten or kill each of them.
// Names are relative to the folder, and no symbolic link is followed.
type disk interface {
	open(name string, flag int) (file, error)
	rename(from, to string) error
	remove(name string) error
	lstat(name string) (fs.FileInfo, error)
	mkdir(name string) error // no error where it exists
	syncDir(name string) error
	readDir(name string) ([]fs.DirEntry, error)
	close() error
}

// A file is one open file of a disk.
type file interface {
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	datasync() error
}

// rooted is the disk of this machine. The os.Root keeps every name inside the folder, whatever is linked there.
type rooted struct{ root *os.Root }

func openDisk(dir string) (disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return rooted{root}, nil
}

var errLink = errors.New("is a symbolic link, which ferrus does not follow; remove it")

func (d rooted) open(name string, flag int) (file, error) {
	if err := d.plain(name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// plain refuses a symbolic link: os.Root would follow one that stays inside.
func (d rooted) plain(name string) error {
	info, err := d.root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s %w", name, errLink)
	}
	return nil
}

func (d rooted) rename(from, to string) error {
	if err := d.plain(to); err != nil {
		return err
	}
	return replace(d.root, from, to)
}

func (d rooted) mkdir(name string) error {
	if err := d.plain(name); err != nil {
		return err
	}
	if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (d rooted) readDir(name string) ([]fs.DirEntry, error) {
	if err := d.plain(name); err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (d rooted) remove(name string) error               { return d.root.Remove(name) }
func (d rooted) lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }
func (d rooted) close() error                           { return d.root.Close() }

type osFile struct{ *os.File }

// slurp reads a whole file.
func slurp(d disk, name string) ([]byte, error) {
	f, err := d.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; remove it", name)
	}
	buf := make([]byte, info.Size())
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return buf[:n], nil
}

// publish replaces a file whole, without fsync: what is published can be made again.
func publish(d disk, name string, data []byte) error {
	tmp := name + ".tmp"
	f, err := d.open(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return d.rename(tmp, name)
}
