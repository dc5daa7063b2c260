package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// A Mover moves folders. Its zero value is ready for use.
type Mover struct {
	Rename func(root *rootfs.Root, from, to string) error // that of the root when nil
}

func (m Mover) rename(root *rootfs.Root, from, to string) error {
	if m.Rename != nil {
		return m.Rename(root, from, to)
	}
	return root.Rename(from, to)
}

// Move moves the folder from into another one, as name, and returns its new name, which differs if
// there is another folder of that name. If same says of that one that an earlier, interrupted move
// has copied it, Move only removes the original. Names are relative to the root.
func (m Mover) Move(root *rootfs.Root, from, into, name string, same func(root *rootfs.Root, a, b string) bool) (string, error) {
	for n := 1; ; n++ {
		to := path.Join(into, name)
		if n > 1 {
			to = path.Join(into, fmt.Sprintf("%s-%d", name, n))
		}
		if _, err := root.Lstat(to); err == nil {
			if same(root, from, to) {
				return to, discard(root, from)
			}
			continue
		}
		err := m.rename(root, from, to)
		switch {
		case err == nil:
			err = errors.Join(SyncDir(root, into), SyncDir(root, path.Dir(from)))
		case errors.Is(err, syscall.EXDEV):
			err = haul(root, from, to)
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			continue
		}
		return to, err
	}
}

// haul moves a folder to another disk: it makes a complete copy, renames that into place in one
// step, and removes the original.
func haul(root *rootfs.Root, from, to string) error {
	part := path.Join(path.Dir(to), "."+path.Base(to)+".part")
	if err := root.RemoveAll(part); err != nil {
		return err
	}
	err := root.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return carry(root, name, path.Join(part, strings.TrimPrefix(name, from)), e)
	})
	if err == nil {
		err = root.WalkDir(part, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = SyncDir(root, name)
			}
			return err
		})
	}
	if err == nil {
		err = root.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, root.RemoveAll(part))
	}
	if err := SyncDir(root, path.Dir(to)); err != nil {
		return err
	}
	return discard(root, from)
}

// discarded is the suffix of names of folders that are to be removed; they also start with a dot.
const discarded = ".discarded"

// discard removes a folder that was copied. It first renames it, because half a folder would look
// whole. Sweep removes what a kill leaves.
func discard(root *rootfs.Root, dir string) error {
	gone := path.Join(path.Dir(dir), "."+path.Base(dir)+discarded)
	if err := root.RemoveAll(gone); err != nil {
		return err
	}
	if err := root.Rename(dir, gone); err != nil {
		return err
	}
	return root.RemoveAll(gone)
}

// Sweep removes from a folder what interrupted moves have left in it.
func Sweep(root *rootfs.Root, dir string) {
	entries, _ := root.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), discarded) {
			_ = root.RemoveAll(path.Join(dir, e.Name())) // the next call tries again
		}
	}
}

// carry copies one entry of a folder, durably. It omits what is no regular file.
func carry(root *rootfs.Root, from, to string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return root.Mkdir(to, 0o700)
	case !info.Mode().IsRegular():
		return nil // a link or a pipe
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := WriteNew(root, to, in, info.Mode().Perm()); err != nil {
		return err
	}
	// By path: at worst this changes the time of a link that was put there meanwhile.
	return os.Chtimes(root.Join(to), info.ModTime(), info.ModTime())
}
