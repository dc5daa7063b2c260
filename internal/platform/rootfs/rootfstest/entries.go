package rootfstest

import (
	"os"
	"path/filepath"
	"testing"
)

// huge is the size of a file that nobody should read. It is sparse and takes no space.
const huge = 5 << 30

// An entry is a kind of thing that can lie where a file or a folder is expected.
type entry struct {
	name string
	// put puts it at path. moved is the path outside of what was there, or of something new if there was nothing.
	put func(path, moved string) error
}

// entries are all kinds. A system without one of them leaves it out.
var entries = append([]entry{
	{"absolute link", func(path, moved string) error { return os.Symlink(moved, path) }},
	{"relative link", func(path, moved string) error {
		to, err := filepath.Rel(filepath.Dir(path), moved)
		if err != nil {
			return err
		}
		return os.Symlink(to, path)
	}},
	{"link to nothing", func(path, moved string) error { return os.Symlink(moved+".new", path) }},
	{"link to the folder outside", func(path, moved string) error { return os.Symlink(filepath.Dir(moved), path) }},
	{"link to itself", func(path, _ string) error { return os.Symlink(filepath.Base(path), path) }},
	{"empty folder", func(path, _ string) error { return os.Mkdir(path, 0o700) }},
	{"full folder", func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "x", "y"), 0o700) }},
	{"empty file", func(path, _ string) error { return os.WriteFile(path, nil, 0o600) }},
	{"5 GB", func(path, _ string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Truncate(huge)
	}},
}, special...)

// put puts an entry in place of what is at path, which is moved to the folder outside.
func put(t testing.TB, e entry, path, outside string) {
	t.Helper()
	moved := filepath.Join(outside, filepath.Base(path))
	err := os.Rename(path, moved)
	if os.IsNotExist(err) {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = e.put(path, moved)
	}
	if err != nil {
		t.Skip(err) // a system without links, or a full disk
	}
}
