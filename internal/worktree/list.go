package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A listing is how a draft index and the work tree differ.
type listing struct {
	others  []string // on disk, not ignored, not in the draft; an embedded repository ends in a slash
	changed []string // to be hashed: their stat differs, or the user tracks them though they are ignored
	gone    []string // to leave the draft: deleted, or not to be counted
	sparse  bool     // the draft has files that a sparse checkout keeps off the disk
	fix     fixes
}

// fixes are entries that would hide the work tree; with any of them the listing is to be made again.
type fixes struct {
	assumed []string // assume-unchanged: git would not look at the file
	skipped []string // skip-worktree, yet the file is there
	links   []string // a submodule whose repository is gone: git would not look into the folder
}

func (f fixes) any() bool { return len(f.assumed)+len(f.skipped)+len(f.links) > 0 }

// list asks git three questions at once; only the last costs a stat for each file.
func (t *Tree) list(ctx context.Context, d *draft) (*listing, error) {
	var (
		l                   = new(listing)
		draft, users, moved []string
	)
	err := together(func() (err error) {
		draft, err = t.survey(ctx, d, l)
		return err
	}, func() error {
		out, _, err := t.user().run(ctx, "ls-files", "-z")
		users = zsplit(out)
		return err
	}, func() error {
		out, said, err := t.on(d).run(ctx, "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty")
		if err == nil {
			err = unread(said)
		}
		moved = zsplit(out)
		return err
	})
	if err != nil {
		return nil, err
	}
	if l.gone, err = t.uncounted(ctx, d, draft, users); err != nil {
		return nil, err
	}
	if l.changed, err = t.trackedIgnored(ctx, draft, users, l.others); err != nil {
		return nil, err
	}
	drop := make(set, len(l.gone))
	for _, path := range l.gone {
		drop.add(path)
	}
	for i := 0; i+1 < len(moved); i += 2 {
		switch path := moved[i+1]; {
		case drop[path]:
		case moved[i] == "D", moved[i] == "U" && !t.onDisk(path):
			l.gone = append(l.gone, path)
		default:
			l.changed = append(l.changed, path)
		}
	}
	return l, nil
}

// survey finds files that the draft does not have, and entries of the draft that need a fix. It returns what the draft
// has, in its order.
func (t *Tree) survey(ctx context.Context, d *draft, l *listing) (draft []string, err error) {
	args := append([]string{"ls-files", "-z", "-v", "-s", "-o", "--exclude-standard"}, excludes(t.exclude)...)
	out, said, err := t.on(d).run(ctx, args...)
	if err == nil {
		err = unread(said)
	}
	if err != nil {
		return nil, err
	}
	// "? path" or "H mode id stage\tpath"
	for _, line := range zsplit(out) {
		if other, ok := strings.CutPrefix(line, "? "); ok {
			l.others = append(l.others, other)
			continue
		}
		entry, path, ok := strings.Cut(line, "\t")
		if !ok || len(entry) < 3 {
			return nil, fmt.Errorf("git ls-files: cannot read %q", line)
		}
		draft = append(draft, path)
		tag, mode := entry[0], entry[2:]
		if tag >= 'a' {
			l.fix.assumed = append(l.fix.assumed, path)
			tag -= 'a' - 'A'
		}
		if tag == 'S' {
			if t.onDisk(path) {
				l.fix.skipped = append(l.fix.skipped, path)
			} else {
				l.sparse = true
			}
		}
		if strings.HasPrefix(mode, "160000 ") && t.filled(path) {
			l.fix.links = append(l.fix.links, path)
		}
	}
	return draft, nil
}

// onDisk reports whether name is a file or link of the work tree itself, not one seen through a link.
func (t *Tree) onDisk(name string) bool {
	info, err := os.Lstat(t.path(name))
	if err != nil || info.IsDir() {
		return false
	}
	return t.folder(path.Dir(name))
}

// folder reports whether name is a folder of the work tree itself.
func (t *Tree) folder(name string) bool {
	for i, c := range name + "/" {
		if c != '/' {
			continue
		}
		if info, err := os.Lstat(t.path(name[:i])); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// filled reports whether the folder has files and is no repository. A submodule that is not checked out is empty.
func (t *Tree) filled(path string) bool {
	dir := filepath.Join(t.dir, filepath.FromSlash(path))
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return false
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}

// unread makes an error of the warnings by which git passes over what it may not read: such a file would not count,
// and change unseen.
func unread(stderr string) error {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "warning: could not open directory ") ||
			!strings.HasPrefix(line, "warning: ") && strings.HasSuffix(line, ": Permission denied") {
			return errors.New(line + "; make it readable or have git ignore it")
		}
	}
	return nil
}
