package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// An Entry is a name in an open folder. It stays in that folder whatever happens to the folders above.
type Entry struct {
	Dir  *os.File
	Name string
	At   string // the path of Dir, for messages and for systems that know no names relative to a folder
}

// Path is the absolute path of the entry.
func (e Entry) Path() string { return filepath.Join(e.At, e.Name) }

// Exchange swaps two names in one step, whatever they lead to. The error is errors.ErrUnsupported where the system or the
// file system has no such call, and [ErrCrossDevice] if the two are on different file systems.
func Exchange(a, b Entry) error { return exchange(a, b) }

// RenameNew renames a to b and refuses, with fs.ErrExist, to replace anything. On a file system that has neither a call
// for that nor hard links it looks first and renames then, which leaves a moment in which another may make the name.
func RenameNew(a, b Entry) error {
	err := renameNew(a, b)
	if errors.Is(err, errors.ErrUnsupported) {
		err = linkNew(a, b)
	}
	return err
}

// ErrCrossDevice is in the error of two names on different file systems.
var ErrCrossDevice error = crossDevice

// linkNew gives a file its second name, which must be new, and takes the first away.
func linkNew(a, b Entry) error {
	from, to := a.Path(), b.Path()
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCrossDevice) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

// Entry opens the folder that name is in. The caller closes Dir.
func (r *Root) Entry(name string) (Entry, error) {
	at, err := r.at(name)
	if err != nil {
		return Entry{}, err
	}
	defer at.done()
	dir, err := at.dir.Open(".")
	if err != nil {
		return Entry{}, named(err, filepath.Dir(at.path))
	}
	return Entry{Dir: dir, Name: at.base, At: filepath.Dir(at.path)}, nil
}
