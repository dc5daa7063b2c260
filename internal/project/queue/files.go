package queue

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// claim claims nothing: one fleet works in a folder at a time, and the lock of a branch lets one process make it.
func (f fileQueue) claim(_ context.Context, it Item) (*Claim, error) {
	c := &Claim{Item: it, done: func() error { return f.taken(it) }, close: func() error { return nil }}
	root, err := rootfs.Open(f.home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(path.Join(folder, it.Name+ext)); err == nil {
		if c.Since = it.Added; c.Since.IsZero() {
			c.Since = info.ModTime()
		}
	}
	return c, nil
}

func (f fileQueue) change(it Item, do func(content string) (string, error)) error {
	return f.waiting(it, func(root *rootfs.Root, name string) error {
		text, h, err := read(root, it.Name)
		if err == nil {
			text, err = do(h.With(text))
		}
		if err != nil {
			return err
		}
		return atomicfile.Replace(root, name, []byte(text), 0o600)
	})
}

func (f fileQueue) remove(it Item) error { return f.waiting(it, atomicfile.Remove) }

// waiting changes the file of a task that waits.
func (f fileQueue) waiting(it Item, do func(root *rootfs.Root, name string) error) error {
	root, err := rootfs.Open(f.home)
	if err != nil {
		return err
	}
	defer root.Close()
	name := path.Join(folder, it.Name+ext)
	if _, err = root.Lstat(name); err == nil {
		err = do(root, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return notWaiting(it.Name)
	}
	return err
}
