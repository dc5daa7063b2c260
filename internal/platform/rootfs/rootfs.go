// Package rootfs reads and writes files below one folder without trusting the content of that
// folder.
//
// A [Root] follows no symbolic link in any part of a name and opens only regular files and folders.
// It never waits for the other end of a FIFO, and never reads more bytes than its caller asked for.
// Errors name the part of the path that is at fault and what to do about it. The packages that read
// the files decide what their content means.
package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	// ErrLink is in the error of a name whose path has a symbolic link in it.
	ErrLink = errors.New("is a symbolic link, which ferrus does not follow; remove the link")
	// ErrNotRegular is in the error of a name that is a FIFO, device, socket or anything else but a file or a folder.
	ErrNotRegular = errors.New("is not a regular file; remove it")
	// ErrIsDir is in the error of a folder where a file is wanted.
	ErrIsDir = errors.New("is a folder where a file belongs; move it away")
	// ErrNotDir is in the error of a file where a folder is wanted.
	ErrNotDir = errors.New("is not a folder; move it away")
	// ErrTooLarge is in the error of a file that has more bytes than its reader accepts.
	ErrTooLarge = errors.New("is too large; move it away")
	// ErrUnreadable is in the error of a file that is not written because it would have more bytes than its readers accept.
	ErrUnreadable = errors.New("nothing was written")
	// ErrName is in the error of a name that is not a path below the folder.
	ErrName = errors.New("is not the name of a file below the folder")
	// ErrChanged is in the error of a file that was exchanged again and again while it was being opened.
	ErrChanged = errors.New("is being replaced by another program; try again")
)

// Unchanged reports whether a file is the one that it was, with the same length and time. was may be nil: then it is not.
func Unchanged(was, now fs.FileInfo) bool {
	return was != nil && os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// A Root is one folder, open. Names are relative to it, with slashes. It may be used by several goroutines.
//
// Each folder on the way to a name is opened and compared with what its parent shows under that name, so that a link
// that is put in its place meanwhile is not followed either.
type Root struct {
	dir  string
	root *os.Root
}

// Open opens the folder dir, which must be a folder itself: a link to one is refused. Links above it are followed.
func Open(dir string) (*Root, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if err := folder(dir, info); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s %w", dir, ErrChanged)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Root{dir, root}, nil
}

// Dir returns the absolute path of the folder.
func (r *Root) Dir() string { return r.dir }

// Join returns the absolute path of name, and looks at nothing: see Path for a path that another program is to open.
func (r *Root) Join(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// Close releases the folder. Files that were opened stay open.
func (r *Root) Close() error { return r.root.Close() }

// Sub opens the folder name as a Root of its own.
func (r *Root) Sub(name string) (*Root, error) {
	parts, err := r.split(name)
	if err != nil {
		return nil, err
	}
	root, err := r.descend(parts)
	if err != nil {
		return nil, err
	}
	if root == r.root {
		if root, err = r.root.OpenRoot("."); err != nil {
			return nil, err
		}
	}
	return &Root{r.join(parts), root}, nil
}

// Path returns the absolute path of name after looking at each part of it: for programs that want a path. What is
// missing is no error. The answer is about this moment only: another program may put a link there afterwards.
func (r *Root) Path(name string) (string, error) {
	parts, err := r.split(name)
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return r.dir, nil
	}
	at, err := r.at(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.join(parts), nil
	case err != nil:
		return "", err
	}
	defer at.done()
	info, err := at.dir.Lstat(at.base)
	if err == nil && !info.IsDir() {
		err = regular(at.path, info)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return at.path, nil
}

// split returns the parts of a name, none for the folder itself.
func (r *Root) split(name string) ([]string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
		return nil, fmt.Errorf("%q %w %s", name, ErrName, r.dir)
	}
	clean := filepath.ToSlash(filepath.Clean(filepath.FromSlash(name)))
	if clean == "." {
		return nil, nil
	}
	return strings.Split(clean, "/"), nil
}

func (r *Root) join(parts []string) string {
	if len(parts) == 0 {
		return r.dir
	}
	const separator = string(filepath.Separator)
	return strings.TrimSuffix(r.dir, separator) + separator + strings.Join(parts, separator)
}

// descend opens the folder that the parts lead to. The caller closes it unless it is r.root.
func (r *Root) descend(parts []string) (*os.Root, error) {
	dir := r.root
	for i, part := range parts {
		next, err := enter(dir, part, func() string { return r.join(parts[:i+1]) })
		if dir != r.root {
			dir.Close()
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// enter opens the folder that dir shows under the name part.
func enter(dir *os.Root, part string, path func() string) (*os.Root, error) {
	info, err := dir.Lstat(part)
	if err != nil {
		return nil, named(err, path())
	}
	if !info.IsDir() {
		return nil, folder(path(), info)
	}
	next, err := dir.OpenRoot(part)
	if err != nil {
		return nil, named(err, path())
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s %w", path(), ErrChanged)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// A place is the folder that a name is in, open, and the last part of the name.
type place struct {
	dir  *os.Root
	base string
	path string // the whole, absolute
	done func()
}

// at opens the folder that name is in. Name itself need not exist, and is not looked at.
func (r *Root) at(name string) (place, error) {
	parts, err := r.split(name)
	if err != nil {
		return place{}, err
	}
	if len(parts) == 0 {
		return place{r.root, ".", r.dir, func() {}}, nil
	}
	last := len(parts) - 1
	dir, err := r.descend(parts[:last])
	if err != nil {
		return place{}, err
	}
	done := func() {}
	if dir != r.root {
		done = func() { dir.Close() }
	}
	return place{dir, parts[last], r.join(parts), done}, nil
}

// folder is nil if info is of a folder, and otherwise says what lies at path instead.
func folder(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s %w", path, ErrLink)
	}
	return fmt.Errorf("%s %w", path, ErrNotDir)
}

// regular is nil if info is of a regular file, and otherwise says what lies at path instead.
func regular(path string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s %w", path, ErrLink)
	case info.IsDir():
		return fmt.Errorf("%s %w", path, ErrIsDir)
	}
	return fmt.Errorf("%s %w", path, ErrNotRegular)
}

// named gives an error of the system the whole path.
func named(err error, path string) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: strings.TrimSuffix(at.Op, "at"), Path: path, Err: at.Err}
	}
	return err
}

// OpenBelow opens the folder path. No part of path from the last folder called top on may be a link; without such a folder
// in it, path itself may not. Links above are followed. If perm is not 0 it makes what is missing below top, but not top: a
// folder that somebody has moved away stays away.
func OpenBelow(path, top string, perm fs.FileMode) (*Root, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	base, rest := path, "."
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if filepath.Base(at) == top {
			base = at
			if rest, err = filepath.Rel(at, path); err != nil {
				return nil, err
			}
			break
		}
	}
	if perm != 0 && filepath.Base(base) != top {
		if err := os.MkdirAll(filepath.Dir(base), perm); err != nil {
			return nil, err
		}
		if err := os.Mkdir(base, perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	r, err := Open(base)
	if err != nil || rest == "." {
		return r, err
	}
	defer r.Close()
	rest = filepath.ToSlash(rest)
	if perm != 0 {
		if err := r.MkdirAll(rest, perm); err != nil {
			return nil, err
		}
	}
	return r.Sub(rest)
}
