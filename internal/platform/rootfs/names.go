package rootfs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Lstat describes name itself, link or not.
func (r *Root) Lstat(name string) (fs.FileInfo, error) {
	at, err := r.at(name)
	if err != nil {
		return nil, err
	}
	defer at.done()
	info, err := at.dir.Lstat(at.base)
	return info, named(err, at.path)
}

// OpenDir opens the folder name, to sync it, say.
func (r *Root) OpenDir(name string) (*os.File, error) {
	sub, err := r.Sub(name)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	return sub.root.Open(".")
}

// ReadDir returns what is in the folder name, sorted by name.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := r.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// WalkDir calls visit for name and everything below it, as fs.WalkDir does. Links are visited and not followed.
func (r *Root) WalkDir(name string, visit fs.WalkDirFunc) error {
	info, err := r.Lstat(name)
	if err != nil {
		err = visit(name, nil, err)
	} else {
		err = r.walk(name, fs.FileInfoToDirEntry(info), visit)
	}
	if err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

// Size returns the bytes of the regular files with these names, and below the folders with them. One that is gone, or goes
// meanwhile, counts as nothing.
func (r *Root) Size(names ...string) (sum int64, err error) {
	for _, name := range names {
		err = errors.Join(err, r.WalkDir(name, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				var info fs.FileInfo
				if info, err = e.Info(); err == nil {
					sum += info.Size()
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}))
	}
	return sum, err
}

func (r *Root) walk(name string, d fs.DirEntry, visit fs.WalkDirFunc) error {
	if err := visit(name, d, nil); err != nil || !d.IsDir() {
		if err == fs.SkipDir && d.IsDir() {
			err = nil
		}
		return err
	}
	entries, err := r.ReadDir(name)
	if err != nil {
		if err = visit(name, d, err); err != nil {
			if err == fs.SkipDir {
				err = nil
			}
			return err
		}
	}
	for _, entry := range entries {
		if err := r.walk(path.Join(name, entry.Name()), entry, visit); err != nil {
			if err == fs.SkipDir {
				break
			}
			return err
		}
	}
	return nil
}

// Mkdir makes the folder name.
func (r *Root) Mkdir(name string, perm fs.FileMode) error {
	at, err := r.at(name)
	if err != nil {
		return err
	}
	defer at.done()
	return named(at.dir.Mkdir(at.base, perm), at.path)
}

// MkdirAll makes the folder name and those above it that are missing. What lies there must be folders, not links.
func (r *Root) MkdirAll(name string, perm fs.FileMode) error {
	parts, err := r.split(name)
	if err != nil {
		return err
	}
	for i := range parts {
		if err := r.Mkdir(path.Join(parts[:i+1]...), perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if len(parts) == 0 {
		return nil
	}
	info, err := r.Lstat(name)
	if err != nil {
		return err
	}
	return folder(r.join(parts), info)
}

// CheckDir returns nil if name is a folder, and otherwise says what lies there instead.
func (r *Root) CheckDir(name string) error {
	info, err := r.Lstat(name)
	if err != nil {
		return err
	}
	parts, err := r.split(name)
	if err != nil {
		return err
	}
	return folder(r.join(parts), info)
}

// Remove removes the file, empty folder or link name. What a link leads to stays.
func (r *Root) Remove(name string) error {
	at, err := r.at(name)
	if err != nil {
		return err
	}
	defer at.done()
	return named(at.dir.Remove(at.base), at.path)
}

// RemoveAll removes name and everything below it, and no error if there is none. What links lead to stays.
func (r *Root) RemoveAll(name string) error {
	at, err := r.at(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer at.done()
	if at.base == "." {
		return fmt.Errorf("%q %w %s", name, ErrName, r.dir)
	}
	return named(at.dir.RemoveAll(at.base), at.path)
}

// RemoveTree is RemoveAll, also where folders lack the rights for that: it gives itself those of folders that it may change.
func (r *Root) RemoveTree(name string) error {
	if r.RemoveAll(name) == nil {
		return nil
	}
	_ = r.WalkDir(name, func(path string, d fs.DirEntry, _ error) error { // RemoveAll says what is wrong
		if d == nil || !d.IsDir() {
			return nil
		}
		if at, err := r.at(path); err == nil {
			_ = at.dir.Chmod(at.base, 0o700)
			at.done()
		}
		return nil
	})
	return r.RemoveAll(name)
}

// Rename renames from to to, of which a file is replaced. Where the two are in different folders a link that another
// program puts in place of one of these meanwhile can lead elsewhere, but not out of the Root.
func (r *Root) Rename(from, to string) error {
	return r.pair(from, to, (*os.Root).Rename)
}

// Link makes to a hard link of the regular file from; the limit of Rename holds.
func (r *Root) Link(from, to string) error {
	path, err := r.at(from)
	if err != nil {
		return err
	}
	info, err := path.dir.Lstat(path.base)
	path.done()
	if err != nil {
		return named(err, path.path)
	}
	if err := regular(path.path, info); err != nil {
		return err
	}
	return r.pair(from, to, (*os.Root).Link)
}

// Symlink makes name a symbolic link to a path, which nothing here follows.
func (r *Root) Symlink(to, name string) error {
	at, err := r.at(name)
	if err != nil {
		return err
	}
	defer at.done()
	return named(at.dir.Symlink(to, at.base), at.path)
}

// pair does what needs two names, from within the folder of both where it is the same.
func (r *Root) pair(from, to string, do func(root *os.Root, from, to string) error) error {
	source, err := r.at(from)
	if err != nil {
		return err
	}
	defer source.done()
	target, err := r.at(to)
	if err != nil {
		return err
	}
	defer target.done()
	if filepath.Dir(source.path) == filepath.Dir(target.path) {
		return do(source.dir, source.base, target.base)
	}
	return do(r.root, filepath.FromSlash(path.Clean(from)), filepath.FromSlash(path.Clean(to)))
}

// CreateTemp makes a new file in the folder dir and opens it for reading and writing. In pattern the last * stands for
// what makes the name new; it returns that name, relative to the Root.
func (r *Root) CreateTemp(dir, pattern string) (f *os.File, name string, err error) {
	at, err := r.at(path.Join(dir, pattern))
	if err != nil {
		return nil, "", err
	}
	defer at.done()
	prefix, suffix := affixes(at.base)
	f, base, err := at.temp(prefix, suffix, 0o600)
	return f, path.Join(dir, base), err
}

// MkdirTemp makes a new folder in the folder dir, with a name by pattern as in CreateTemp, and returns that name,
// relative to the Root.
func (r *Root) MkdirTemp(dir, pattern string) (name string, err error) {
	at, err := r.at(path.Join(dir, pattern))
	if err != nil {
		return "", err
	}
	defer at.done()
	prefix, suffix := affixes(at.base)
	base, err := at.fresh(prefix, suffix, func(base string) error { return at.dir.Mkdir(base, 0o700) })
	return path.Join(dir, base), err
}

func affixes(pattern string) (prefix, suffix string) {
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		return pattern[:i], pattern[i+1:]
	}
	return pattern, ""
}

func (p place) temp(prefix, suffix string, perm fs.FileMode) (f *os.File, base string, err error) {
	base, err = p.fresh(prefix, suffix, func(base string) (err error) {
		f, err = p.dir.OpenFile(base, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	return f, base, err
}

// fresh has a name made that did not exist.
func (p place) fresh(prefix, suffix string, make func(base string) error) (base string, err error) {
	for range 1000 {
		base = prefix + strconv.FormatUint(rand.Uint64(), 36) + suffix
		if err = make(base); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return base, named(err, filepath.Join(filepath.Dir(p.path), base))
}
