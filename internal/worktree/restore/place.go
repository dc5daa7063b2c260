package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A place is a name in an open folder: it stays in that folder whatever happens to the folders above.
type place struct {
	rootfs.Entry
	lent bool // the folder belongs to another place
}

func (p place) path() string { return p.Path() }

func (p place) close() {
	if !p.lent {
		p.Dir.Close()
	}
}

// exchange is [rootfs.Exchange].
func exchange(a, b place) error { return rootfs.Exchange(a.Entry, b.Entry) }

// moveNew is [rootfs.RenameNew].
func moveNew(a, b place) error { return rootfs.RenameNew(a.Entry, b.Entry) }

// placeOf is a path whose folder is ours.
func placeOf(path string) (place, error) {
	dir, err := os.Open(filepath.Dir(path))
	return place{Entry: rootfs.Entry{Dir: dir, Name: filepath.Base(path), At: filepath.Dir(path)}}, err
}

// errAway: the folder that leads to a path of the work tree is not there, is a link, or belongs to another repository.
var errAway = errors.New("is not a folder of the work tree")

// placeFor opens the folder that holds a path of the work tree, and follows no link. It makes the folders that are
// missing if make is set. The error wraps errAway if one of them is something else.
func (t *WorkTree) placeFor(name string, make bool) (place, error) {
	root, err := rootfs.Open(t.Top())
	if err != nil {
		return place{}, err
	}
	defer root.Close()
	parent := path.Dir(name)
	for i, c := range parent + "/" {
		if c == '/' && parent != "." {
			if _, err := root.Lstat(parent[:i] + "/.git"); err == nil {
				return place{}, fmt.Errorf("%s %w", git.Printable(parent[:i]), errAway)
			}
		}
	}
	if make {
		err = root.MkdirAll(parent, 0o777)
	}
	var p place
	if err == nil {
		p.Entry, err = root.Entry(name)
	}
	for _, gone := range []error{rootfs.ErrLink, rootfs.ErrNotDir, rootfs.ErrNotRegular, fs.ErrNotExist} {
		if errors.Is(err, gone) {
			err = fmt.Errorf("%w: %w", errAway, err)
		}
	}
	return p, err
}

// removeEmpty removes a folder that holds nothing but folders. Of anything else it removes nothing: neither a file nor a
// link that has taken the place of a folder.
func removeEmpty(dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return err
	}
	inside, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range inside {
		if e.IsDir() {
			if err := removeEmpty(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return rmdir(dir)
}

// rmdir removes a folder that is empty, and nothing that is no folder.
func rmdir(dir string) error {
	if err := syscall.Rmdir(dir); err != nil {
		return &os.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}
