package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// ownFolders are the folders that ferrus has below .ferrus for the whole project, and machineFolders those of each
// machine, relative to its own folder. None of them may be a link.
var (
	ownFolders = []string{"archive/branches", "branches", "worktrees", "queue", "queue/taken", "drafts", "evidence", "parallel",
		"pipeline-tmp", "memory", "memory/pipelines", "skills"}
	machineFolders = []string{"logs", "live", "archive", "git", "git/objects", "git/objects/info", "git/objects/pack", "runs"}
)

// Folders are those of the place, relative to .ferrus, outer ones first.
func (p Place) Folders() []string {
	all := append(append([]string{}, machineFolders...), ownFolders...)
	if p.Branch != "" {
		machine := path.Join("branches", p.Branch)
		all = append(all, machine, path.Join("worktrees", p.Branch))
		for _, name := range machineFolders {
			all = append(all, path.Join(machine, name))
		}
	}
	return all
}

// Links returns those of ferrus's own folders at the place that are symbolic links, as paths. A link in place of .ferrus
// itself is the only one then.
func (p Place) Links() ([]string, error) {
	root, err := rootfs.Open(filepath.Join(p.Root, DirName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, rootfs.ErrLink):
		return []string{filepath.Join(p.Root, DirName)}, nil
	case err != nil:
		return nil, err
	}
	defer root.Close()
	var links []string
	for _, name := range p.Folders() {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrLink): // the latter is in the list already
		case err != nil:
			return links, err
		case info.Mode()&fs.ModeSymlink != 0:
			links = append(links, root.Join(name))
		case !info.IsDir():
			return links, fmt.Errorf("%s %w", root.Join(name), rootfs.ErrNotDir)
		}
	}
	return links, nil
}

// CheckFolders refuses, with the code ForeignState, a place where one of ferrus's own folders is a symbolic link: what
// lies behind it was not made here, and would be written to and removed. Nothing was touched.
func (p Place) CheckFolders() error {
	if p.Branch != "" {
		if err := state.CheckBranch(p.Branch); err != nil {
			return &refusal.RefusedError{Code: refusal.InvalidInput, Message: err.Error(), Remedy: "ferrus branches lists them", Person: true}
		}
	}
	links, err := p.Links()
	switch {
	case err != nil:
		return &refusal.RefusedError{Code: refusal.StoreError, Message: err.Error(), Remedy: "check whether the folder can be read", Person: true}
	case len(links) > 0:
		return &refusal.RefusedError{Code: refusal.ForeignState, Message: links[0] + " is a symbolic link, which ferrus does not follow", Person: true,
			Remedy: "see where it leads, then remove the link; ferrus doctor{branch} --fix does that"}
	}
	return nil
}

// OpenDir opens the folder of the place; the error is a *refusal.RefusedError, with the code ForeignState where a link is in the way.
func (p Place) OpenDir() (*rootfs.Root, error) {
	root, err := rootfs.OpenBelow(p.Dir(), DirName, 0)
	if err != nil {
		return nil, refusal.Folder(err)
	}
	return root, nil
}

// OpenHome opens the .ferrus of the project.
func (p Place) OpenHome() (*rootfs.Root, error) { return At(p.Root, "").OpenDir() }

// WriteFile writes a file below the folder of the place anew. A link that stands in its place is not followed.
func (p Place) WriteFile(name string, data []byte) error {
	root, err := p.OpenDir()
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(name, data, 0o600)
}

// Lock takes a lock of the place by its name below the folder.
func (p Place) Lock(name string) (*filelock.Lock, error) {
	root, err := p.OpenDir()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return LockIn(root, name)
}

// LockIn takes a lock, and makes the folder that it is in where that is missing.
func LockIn(root *rootfs.Root, name string) (*filelock.Lock, error) {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, refusal.Folder(err)
	}
	file, err := root.Path(name)
	if err != nil {
		return nil, refusal.Folder(err)
	}
	return filelock.Take(file)
}
