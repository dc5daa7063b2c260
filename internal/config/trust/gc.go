package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Sweep removes the records of projects whose folder has been missing for at least age, and returns
// their paths. It records when a folder is first missed, so that a project on an unmounted disk
// keeps its record. With dry it changes nothing. It leaves records that it cannot read.
func Sweep(now time.Time, age time.Duration, dry bool) (removed []string, err error) {
	dir, err := StateDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unwritten(dir, err)
	}
	if !dry {
		unlock, err := lock(dir)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	for _, d := range entries {
		path := filepath.Join(dir, folder, d.Name())
		if !strings.HasSuffix(path, ".json") {
			continue
		}
		r, found, err := read(path)
		if err != nil || !found {
			continue
		}
		_, there := os.Stat(r.Path)
		gone := errors.Is(there, fs.ErrNotExist)
		switch {
		case gone && !r.Gone.IsZero() && now.Sub(r.Gone) >= age:
			removed = append(removed, r.Path)
			if !dry {
				err = os.Remove(path)
			}
		case gone && r.Gone.IsZero() && !dry:
			r.Gone = now.UTC()
			err = replace(path, r)
		}
		if err != nil {
			return removed, unwritten(dir, err)
		}
	}
	return removed, nil
}

// Below returns the paths of the recorded projects that lie below a folder. It leaves out records that it cannot read.
func Below(top string) ([]string, error) {
	all, err := Projects()
	return slices.DeleteFunc(all, func(path string) bool {
		return !strings.HasPrefix(path, strings.TrimSuffix(top, string(filepath.Separator))+string(filepath.Separator))
	}), err
}

// Projects returns the paths of all recorded projects. It leaves out records that it cannot read.
func Projects() (paths []string, err error) {
	all, err := List()
	for _, l := range all {
		if l.Err == nil {
			paths = append(paths, l.Path)
		}
	}
	return paths, err
}

// A Listed is a recorded project.
type Listed struct {
	ID     string // the name of its record: the same for as long as the project stays where it is
	Path   string // of its root; that of the record with Err
	Agreed bool   // a person has agreed to values of it, and has not revoked that
	Err    error  // why the record cannot be read
}

// List returns all recorded projects, in the order of their ids.
func List() ([]Listed, error) {
	dir, err := StateDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unwritten(dir, err)
	}
	var all []Listed
	for _, d := range entries {
		id, ok := strings.CutSuffix(d.Name(), ".json")
		if !ok {
			continue
		}
		path := filepath.Join(dir, folder, d.Name())
		switch r, found, err := read(path); {
		case err != nil:
			all = append(all, Listed{ID: id, Path: path, Err: err})
		case found && recordOf(dir, r.Path) != path:
			all = append(all, Listed{ID: id, Path: path, Err: damaged(path, "it is the record of "+quoted(r.Path))})
		case found:
			all = append(all, Listed{ID: id, Path: r.Path, Agreed: len(r.Agreed) > 0})
		}
	}
	return all, nil
}

// ID returns what stands for the project at root in names of files outside of it: the same for as long as the project stays where it is.
func ID(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:16])
}

// recordOf is the path of the record of the project at root.
func recordOf(dir, root string) string { return filepath.Join(dir, folder, ID(root)+".json") }
