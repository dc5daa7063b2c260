package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A disk has every operation on files that the store uses, so that a test can fail, shorten or kill
// each of them. Names are relative to the folder, and no symbolic link is followed.
type disk interface {
	open(name string, flag int) (file, error)
	rename(from, to string) error
	exchange(a, b string) error // swaps two files; any error leaves both as they are
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

// rooted is the disk of this machine.
type rooted struct {
	root *rootfs.Root
	dir  *os.File // the folder itself
}

// openDisk opens a folder. No part of its path from .ferrus on may be a link.
func openDisk(dir string) (disk, error) {
	root, err := rootfs.OpenBelow(dir, ".ferrus", 0)
	if err != nil {
		return nil, err
	}
	self, err := root.OpenDir(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return rooted{root, self}, nil
}

func (d rooted) open(name string, flag int) (file, error) {
	f, err := d.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d rooted) mkdir(name string) error {
	if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.root.CheckDir(name)
}

func (d rooted) readDir(name string) ([]fs.DirEntry, error) { return d.root.ReadDir(name) }
func (d rooted) rename(from, to string) error               { return replace(d.root, from, to) }
func (d rooted) remove(name string) error                   { return d.root.Remove(name) }
func (d rooted) lstat(name string) (fs.FileInfo, error)     { return d.root.Lstat(name) }
func (d rooted) exchange(a, b string) error                 { return exchange(d.dir, a, b) }
func (d rooted) close() error                               { return errors.Join(d.root.Close(), d.dir.Close()) }

type osFile struct{ *os.File }

// slurp reads a whole file of at most limit bytes.
func slurp(d disk, name string, limit int64) ([]byte, error) {
	f, err := d.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, of which at most %d are read: it %w", name, info.Size(), limit, rootfs.ErrTooLarge)
	}
	buf := make([]byte, info.Size())
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return buf[:n], nil
}

// publish replaces a generated file, under the lock, and returns its new lstat. It does not sync:
// the file can be generated again.
func publish(d disk, name string, data []byte) (fs.FileInfo, error) {
	return fill(d, name, name+".tmp", func(f file) error {
		_, err := f.Write(data)
		return err
	})
}

// fill replaces a file by way of tmp, which it creates anew: an existing tmp may be a link, or left
// by a crash.
func fill(d disk, name, tmp string, write func(file) error) (fs.FileInfo, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := d.open(tmp, flags)
	if err != nil {
		if d.remove(tmp) != nil {
			return nil, err
		}
		if f, err = d.open(tmp, flags); err != nil {
			return nil, err
		}
	}
	err = write(f)
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = swapIn(d, tmp, name)
	}
	if err != nil {
		_ = d.remove(tmp) // it may be the file that fills the disk
		return nil, err
	}
	return info, nil
}

// swapIn renames tmp to name. Where it can, it exchanges the two and removes the old one: with a
// rename over it, ext4 writes the new file out at once, which costs as much as the journal's sync.
// The next writer removes a tmp that a crash left.
func swapIn(d disk, tmp, name string) error {
	if d.exchange(tmp, name) != nil { // there is no such file yet, or the system cannot
		return d.rename(tmp, name)
	}
	_ = d.remove(tmp)
	return nil
}

// syncDir makes the names in a folder durable.
func syncDir(root *rootfs.Root, name string) error {
	d, err := root.OpenDir(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
