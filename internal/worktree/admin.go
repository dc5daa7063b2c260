package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An admin is the folder that git has in the repository for a linked work tree, finished or not.
type admin struct {
	path   string
	dir    string // the work tree, as far as git knows; "" if it does not
	head   string // the ref that it is on, "" if it is on none
	locked bool
	reason string // why it is locked
}

// admins reads all of them. Git's own list leaves out those that are not finished.
func (t *Tree) admins() ([]admin, error) {
	folders, err := os.ReadDir(filepath.Join(t.common, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []admin
	for _, f := range folders {
		a := admin{path: filepath.Join(t.common, "worktrees", f.Name())}
		if file := a.read("gitdir"); file != "" {
			a.dir = filepath.Dir(joined(a.path, file))
		}
		a.head, _ = strings.CutPrefix(a.read("HEAD"), "ref: ")
		a.locked = exists(filepath.Join(a.path, "locked"))
		a.reason = a.read("locked")
		all = append(all, a)
	}
	return all, err
}

func (a admin) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(a.path, name))
	return strings.TrimSpace(string(text))
}

// at reports whether dir is the work tree of a: by its .git file, which the two are moved with.
func (a admin) at(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, ".git"))
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	return err == nil && ok && resolved(joined(dir, to)) == resolved(a.path)
}

// clear removes those of the folders that are a's work tree, and then a itself. The .git file, by which the work tree is
// known, goes last of its files.
func (t *Tree) clear(a admin, dirs ...string) error {
	for _, dir := range dirs {
		if dir == "" || !a.at(dir) {
			continue
		}
		inside, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range inside {
			if e.Name() == ".git" {
				continue
			}
			t.at()
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		t.at()
		if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
			return err
		}
		t.at()
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	t.at()
	return os.RemoveAll(a.path)
}

// vacate reports whether there is nothing at dir, and removes an empty folder.
func vacate(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return info.IsDir() && os.Remove(dir) == nil
}

// joined is a path that a file in dir names, absolute or relative to dir.
func joined(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// aside is the name of a folder beside dir that does not exist.
func aside(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	path, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-")
	if err != nil {
		return "", err
	}
	return path, os.Remove(path) // git makes it, for those who may see the rest
}

// sweepAside removes empty folders that a killed Add has left beside dir.
func sweepAside(dir string) error {
	beside, err := os.ReadDir(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range beside {
		if strings.HasPrefix(e.Name(), filepath.Base(dir)+".new-") && e.IsDir() {
			os.Remove(filepath.Join(filepath.Dir(dir), e.Name())) // not if it is another's at work
		}
	}
	return err
}
