package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
)

// halfway ends the name of a file that is copied from another disk and not there yet.
const halfway = ".ferrus.tmp"

// A Change is what [Tree.Restore] did. The lists are as [Tree.Changed] gives them.
type Change struct {
	Written []string
	Removed []string
	// Left differs still: submodules and embedded repositories, which are never touched, with what would be inside them;
	// files made since the snapshot; files that a sparse checkout has and the tree has not.
	Left []string
}

// Restore makes the files of the work tree those of the tree to. from is the snapshot that the caller took, and keeps:
// Restore changes nothing but what is in it, so that a Restore of from takes all of it back. A file that is in neither
// tree is left, one that has changed since the snapshot and would be lost is a [*BlockedError].
//
// It never touches what git ignores unless it is tracked, by the rules of now and by those of to: a file that came to be
// counted because a rule was gone stays when the rule is back. Nor does it touch what [Open] leaves out, or the user's
// index. A file to be written where an ignored one stands is a *BlockedError. A folder goes when its
// last file does; a link is replaced, not followed. A file has the bytes that git checkout would give it: what the
// filters of .gitattributes have cleaned comes back smudged by those of to, hence the same if they undo each other.
// Owner, times and permissions other than the executable bit are those of a new file.
//
// Every file is made aside and renamed. Restore may be killed at any moment and called again with the same trees: it
// finishes. What it did is on disk when it returns. The error is [ErrNoGit] without git.
func (t *Tree) Restore(ctx context.Context, from, to string) (Change, error) {
	var c Change
	err := t.planned(ctx, from, to, func(p *plan, s *stage) error {
		c = Change{Written: listed(sorted(p.write)), Removed: listed(sorted(p.remove)), Left: listed(sorted(p.left))}
		return t.carryOut(p, s)
	})
	if err != nil {
		return c, fmt.Errorf("restore of %.12q: %w", to, err)
	}
	return c, nil
}

// Blocked returns the error that [Tree.Restore] of the same trees would return before it changes anything, a
// [*BlockedError] for one; nil if it would go ahead, or has nothing to do. It makes the files aside as Restore does, and
// changes nothing itself.
func (t *Tree) Blocked(ctx context.Context, from, to string) error {
	if err := t.planned(ctx, from, to, func(*plan, *stage) error { return nil }); err != nil {
		return fmt.Errorf("restore of %.12q: %w", to, err)
	}
	return nil
}

// planned calls do, if there is anything to do, with a plan that nothing stands in the way of.
func (t *Tree) planned(ctx context.Context, from, to string, do func(*plan, *stage) error) error {
	if !t.Git() {
		return ErrNoGit
	}
	for _, id := range []string{from, to} {
		if !objectID.MatchString(id) {
			return fmt.Errorf("%q is not an object id", id)
		}
	}
	now, err := t.Fingerprint(ctx)
	if err != nil || now == to {
		return err
	}
	s, err := t.newStage(ctx, to)
	if err != nil {
		return err
	}
	defer s.discard()
	p, err := t.plan(ctx, s, from, now)
	if err != nil {
		return err
	}
	if err := t.clash(p, s); err != nil {
		return err
	}
	return do(p, s)
}

// carryOut does what the plan says, removals first: what is removed may be where something is to be written.
func (t *Tree) carryOut(p *plan, s *stage) error {
	write := sorted(p.write)
	if err := s.sync(write); err != nil {
		return err
	}
	touched := set{}
	for _, name := range sorted(p.remove) {
		t.at()
		if err := os.Remove(t.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
		touched.add(t.prune(path.Dir(name)))
	}
	for _, name := range write {
		t.at()
		if err := t.put(s.path(name), name); err != nil {
			return err
		}
		for dir := path.Dir(name); !touched[dir]; dir = path.Dir(dir) {
			touched.add(dir)
		}
	}
	return each(sorted(touched), func(dir string) error {
		if !t.folder(dir) { // a file or link has taken its place
			return nil
		}
		return syncFile(t.path(dir))
	})
}

// prune removes the folder if it is empty, and those above that it was the last in. It returns the one that stays.
func (t *Tree) prune(dir string) string {
	for dir != "." && os.Remove(t.path(dir)) == nil {
		dir = path.Dir(dir)
	}
	return dir
}

// put moves a staged file to its place.
func (t *Tree) put(staged, name string) error {
	target := t.path(name)
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	if info, err := os.Lstat(target); err == nil && info.IsDir() {
		if err := clearEmpty(target); err != nil {
			return err
		}
	}
	err := os.Rename(staged, target)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	os.Remove(target + halfway)
	if err := copyFile(staged, target+halfway); err != nil {
		return err
	}
	return os.Rename(target+halfway, target)
}

// clearEmpty removes a folder that holds nothing but folders.
func clearEmpty(dir string) error {
	inside, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range inside {
		if e.IsDir() {
			if err := clearEmpty(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}

// copyFile copies a file or link, and syncs it.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if closed := dst.Close(); err == nil {
		err = closed
	}
	return err
}

// each calls do for all names, several at a time: syncs that wait together share a write of the disk.
func each(names []string, do func(string) error) error {
	const hands = 16
	errs := make([]error, hands)
	var wg sync.WaitGroup
	for h := range errs {
		wg.Go(func() {
			for i := h; i < len(names) && errs[h] == nil; i += hands {
				errs[h] = do(names[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// path is where the work tree has a path of git's.
func (t *Tree) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }
