package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

const (
	leftoverAge = time.Hour           // a draft of a killed process
	unusedAge   = 30 * 24 * time.Hour // a table for patterns or a work tree of the past
)

// top is the folder from which on no part of a path of ours may be a link.
const top = ".ferrus"

// OpenPrivate opens the private folder, and makes it where it alone is missing: a .ferrus that was taken away stays away. A link
// in its place, or in that of a folder between it and .ferrus, is refused: what lies behind it was not made here.
func (r *Repository) OpenPrivate() (*rootfs.Root, error) {
	if _, err := os.Lstat(filepath.Dir(r.private)); err != nil {
		return nil, err
	}
	return r.opened()
}

// opened opens the private folder as [Repository.OpenPrivate] does, and makes what is missing between .ferrus and it too.
func (r *Repository) opened() (*rootfs.Root, error) { return rootfs.OpenBelow(r.private, top, 0o700) }

// makePrivate makes the private folder and its object store, and refuses what git must not be pointed at: links, FIFOs and
// devices among the files there.
func (r *Repository) makePrivate() error {
	root, err := r.opened()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll("objects", 0o700); err != nil {
		return err
	}
	for _, dir := range []string{".", "objects"} {
		entries, err := root.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch kind := e.Type(); {
			case kind.IsRegular() || kind.IsDir():
			case kind&fs.ModeSymlink != 0:
				return fmt.Errorf("%s %w", filepath.Join(root.Dir(), dir, e.Name()), rootfs.ErrLink)
			default:
				return fmt.Errorf("%s %w", filepath.Join(root.Dir(), dir, e.Name()), rootfs.ErrNotRegular)
			}
		}
	}
	return nil
}

// tempFile makes a new file in the private folder.
func (r *Repository) tempFile(pattern string) (*os.File, error) {
	root, err := r.OpenPrivate()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, _, err := root.CreateTemp(".", pattern)
	return f, err
}

// TempDir makes a new folder in the private folder and returns its path.
func (r *Repository) TempDir(pattern string) (string, error) {
	root, err := r.OpenPrivate()
	if err != nil {
		return "", err
	}
	defer root.Close()
	name, err := root.MkdirTemp(".", pattern)
	return filepath.Join(root.Dir(), name), err
}

// RemoveTemp removes a folder that [Repository.TempDir] has made.
func (r *Repository) RemoveTemp(path string) {
	if root, err := r.OpenPrivate(); err == nil {
		_ = root.RemoveAll(filepath.Base(path))
		root.Close()
	}
}

// Sweep removes what killed processes and abandoned patterns have left in the private folder. It goes by names, and so
// only where the folder is known to be ours.
func (r *Repository) Sweep() {
	root, err := r.OpenPrivate()
	if err != nil {
		return // prepare says why
	}
	defer root.Close()
	for _, s := range []struct {
		dir, prefix string
		age         time.Duration
	}{
		{".", "draft-", leftoverAge},
		{".", "index-", unusedAge}, // of versions before the stat table
		{".", "stat-", unusedAge},
		{".", "restore-", leftoverAge},
		{"objects", "tmp_objdir-", leftoverAge},
	} {
		entries, _ := root.ReadDir(s.dir)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), s.prefix) {
				continue
			}
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > s.age {
				_ = root.RemoveAll(s.dir + "/" + e.Name())
			}
		}
	}
}

// noLink refuses a path below a .ferrus of which a part from there on is a link. What is missing is no error.
func noLink(path string) error {
	dir, name := filepath.Split(filepath.Clean(path))
	if !strings.Contains(filepath.ToSlash(dir), "/"+top+"/") {
		return nil
	}
	root, err := rootfs.OpenBelow(dir, top, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s %w", path, rootfs.ErrLink)
	}
	return nil
}
