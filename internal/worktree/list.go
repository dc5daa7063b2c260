package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// list asks git four questions at once; only the last costs a stat for each file.
func (t *Tree) list(ctx context.Context, d *draft) (*listing, error) {
	var (
		l                       = new(listing)
		tracked, ignored, moved []string
	)
	err := together(func() error {
		return t.survey(ctx, d, l)
	}, func() (err error) {
		tracked, err = t.trackedIgnored(ctx)
		return err
	}, func() (err error) {
		ignored, err = t.ignored(ctx, t.on(d), t.exclude)
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
	wanted := make(map[string]bool, len(tracked))
	for _, path := range tracked {
		wanted[path] = true
	}
	drop := make(map[string]bool, len(ignored))
	for _, path := range ignored {
		if !wanted[path] {
			drop[path] = true
			l.gone = append(l.gone, path)
		}
		delete(wanted, path) // in the draft already
	}
	for _, path := range tracked {
		if wanted[path] && t.onDisk(path) {
			l.changed = append(l.changed, path)
		}
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

// survey finds files that the draft does not have, and entries of the draft that need a fix.
func (t *Tree) survey(ctx context.Context, d *draft, l *listing) error {
	args := append([]string{"ls-files", "-z", "-v", "-s", "-o", "--exclude-standard"}, excludes(t.exclude)...)
	out, said, err := t.on(d).run(ctx, args...)
	if err == nil {
		err = unread(said)
	}
	if err != nil {
		return err
	}
	// "? path" or "H mode id stage\tpath"
	for _, line := range zsplit(out) {
		if other, ok := strings.CutPrefix(line, "? "); ok {
			l.others = append(l.others, other)
			continue
		}
		entry, path, ok := strings.Cut(line, "\t")
		if !ok || len(entry) < 3 {
			return fmt.Errorf("git ls-files: cannot read %q", line)
		}
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
	return nil
}

// trackedIgnored lists what the user tracks although git ignores it, without what never counts.
func (t *Tree) trackedIgnored(ctx context.Context) ([]string, error) {
	all, err := t.ignored(ctx, t.user(), nil)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	out, _, err := t.user().run(ctx, append([]string{"ls-files", "-z", "-c", "-i"}, excludes(t.exclude)...)...)
	if err != nil {
		return nil, err
	}
	never := make(map[string]bool)
	for _, path := range zsplit(out) {
		never[path] = true
	}
	kept := all[:0]
	for _, path := range all {
		if !never[path] {
			kept = append(kept, path)
		}
	}
	return kept, nil
}

// ignored lists what c's index has although git ignores it or one of the patterns matches.
func (t *Tree) ignored(ctx context.Context, c command, patterns []string) ([]string, error) {
	out, _, err := c.run(ctx, append([]string{"ls-files", "-z", "-c", "-i", "--exclude-standard"}, excludes(patterns)...)...)
	return zsplit(out), err
}

func excludes(patterns []string) []string {
	args := make([]string, len(patterns))
	for i, p := range patterns {
		args[i] = "--exclude=" + p
	}
	return args
}

// onDisk reports whether path is a file or link of the work tree itself, not one seen through a link.
func (t *Tree) onDisk(path string) bool {
	info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(path)))
	if err != nil || info.IsDir() {
		return false
	}
	for i, c := range path {
		if c != '/' {
			continue
		}
		if info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(path[:i]))); err != nil || !info.IsDir() {
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
