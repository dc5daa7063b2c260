package repository

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// An admin is the folder that git has in the repository for a linked work tree, finished or not.
type admin struct {
	path   string
	dir    string // the work tree, as far as git knows; "" if it does not
	head   string // the ref that it is on, "" if it is on none
	locked bool
	reason string // why it is locked
}

// maxAdmin is how much is read of a file that git or a person has in such a folder: a path, a ref or a reason.
const maxAdmin = 1 << 16

// worktrees opens the folder of all of them.
func (r *Repository) worktrees() (*rootfs.Root, error) {
	common, err := rootfs.Open(r.common)
	if err != nil {
		return nil, err
	}
	defer common.Close()
	return common.Sub("worktrees")
}

// admins reads all of them. Git's own list leaves out those that are not finished. A link among them is none of git's.
func (r *Repository) admins() ([]admin, error) {
	root, err := r.worktrees()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	folders, err := root.ReadDir(".")
	var all []admin
	for _, f := range folders {
		if f.IsDir() {
			all = append(all, readAdmin(root, f.Name()))
		}
	}
	return all, err
}

// readAdmin reads the one of a name in the folder of all.
func readAdmin(root *rootfs.Root, name string) admin {
	read := func(file string) string {
		text, _ := root.ReadFile(name+"/"+file, maxAdmin)
		return strings.TrimSpace(string(text))
	}
	a := admin{path: filepath.Join(root.Dir(), name)}
	if file := read("gitdir"); file != "" {
		a.dir = filepath.Dir(joined(a.path, file))
	}
	a.head, _ = strings.CutPrefix(read("HEAD"), "ref: ")
	a.locked = filestat.Exists(filepath.Join(a.path, "locked"))
	a.reason = read("locked")
	return a
}

// around returns those in whose work trees dir may lie. For the top of a work tree it is the one that the .git file there names, if it
// names that work tree in turn: to read all of them for each of many work trees would take the square of the time.
func (r *Repository) around(dir string) ([]admin, error) {
	if dir == r.dir {
		return nil, nil
	}
	if path, ok := named(dir); ok {
		root, err := r.worktrees()
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if a := readAdmin(root, filepath.Base(path)); git.Resolve(a.path) == path && a.dir != "" && git.Resolve(a.dir) == dir {
			return []admin{a}, nil
		}
	}
	return r.admins()
}

// named is the folder that the .git file of a linked work tree names, links resolved; false where there is no such file.
func named(dir string) (string, bool) {
	root, err := rootfs.Open(dir)
	if err != nil {
		return "", false
	}
	defer root.Close()
	text, err := root.ReadFile(".git", maxAdmin)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	return git.Resolve(joined(dir, to)), err == nil && ok
}

// at reports whether dir is the work tree of a: by its .git file, which the two are moved with.
func (a admin) at(dir string) bool {
	path, ok := named(dir)
	return ok && path == git.Resolve(a.path)
}

// clear removes the work tree of a, if it is dir or a folder that Add makes beside that, and then a itself. Where else a
// lies by its gitdir file does not count: anybody who can write in the repository can write that.
func (r *Repository) clear(a admin, dir string) error {
	dirs := []string{dir}
	if beside := git.Resolve(a.dir); a.dir != "" && strings.HasPrefix(beside, dir+asideMark) &&
		filepath.Dir(beside) == filepath.Dir(dir) {
		dirs = append(dirs, beside)
	}
	for _, dir := range dirs {
		if a.at(dir) {
			if err := r.clearTree(dir); err != nil {
				return err
			}
		}
	}
	root, err := rootfs.Open(r.common)
	if err != nil {
		return err
	}
	defer root.Close()
	r.Changing()
	return root.RemoveAll("worktrees/" + filepath.Base(a.path))
}

// clearTree removes a work tree. The .git file, by which it is known, goes last of its files.
func (r *Repository) clearTree(dir string) error {
	root, err := rootfs.Open(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	inside, err := root.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range inside {
		if e.Name() == ".git" {
			continue
		}
		r.Changing()
		if err := root.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	r.Changing()
	if err := root.Remove(".git"); err != nil {
		return err
	}
	r.Changing()
	return os.Remove(dir)
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

// asideMark follows the name of a work tree in those of the folders that Add makes beside it.
const asideMark = ".new-"

// aside is the name of a folder beside dir that does not exist.
func aside(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	path, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+asideMark)
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
		if strings.HasPrefix(e.Name(), filepath.Base(dir)+asideMark) && e.IsDir() {
			os.Remove(filepath.Join(filepath.Dir(dir), e.Name())) // not if it is another's at work
		}
	}
	return err
}
