// Package restore replaces the files of a work tree by those of another tree, without losing an edit: what somebody writes
// meanwhile is on disk, or saved under a name that the caller gets. A killed Restore is finished by the next one.
//
// It takes trees that are in the repository's stores; [worktree.Tree] makes and keeps them.
package restore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A WorkTree is a [worktree.Tree] whose files can be replaced. Any number of them may be of the same Tree.
type WorkTree struct {
	*worktree.Tree
	hooks hooks // for tests
}

// In returns the work tree of t.
func In(t *worktree.Tree) *WorkTree { return &WorkTree{Tree: t} }

// A Change is what [WorkTree.Restore] did. The lists are as [worktree.Tree.Changed] gives them.
type Change struct {
	Written []string
	Removed []string
	// Left differs still: submodules and embedded repositories, which are never touched, with what would be inside them;
	// files edited since the snapshot where both trees have the same, made or deleted for one; files that a sparse checkout
	// has and the tree has not.
	Left []string
	// Edited was changed by somebody meanwhile, or while an earlier Restore was cut off. It is saved.
	Edited []Edit
}

// Restore makes the files of the work tree those of the tree to. from is the snapshot that the caller took, and keeps:
// Restore changes nothing but what is in it, so that a Restore of from takes all of it back. A file that is in neither
// tree, or the same in both, is left as somebody may have edited it since. One that has changed since the snapshot and would
// be lost is a [*BlockedError].
//
// It never touches what git ignores unless it is tracked, by the rules of now and by those of to: a file that came to be
// counted because a rule was gone stays when the rule is back. Nor does it touch what [worktree.Open] leaves out, or the user's
// index. A file to be written where an ignored one stands is a *BlockedError. A folder goes when its
// last file does; a link is replaced, not followed. A file has the bytes that git checkout would give it: what the
// filters of .gitattributes have cleaned comes back smudged by those of to, hence the same if they undo each other.
// Owner, times and permissions other than the executable bit are those of a new file.
//
// No edit is lost. A file that is changed while Restore replaces or removes it, by its name or by a descriptor or mapping
// that was there before, comes out of the work tree and is saved below refs/ferrus/ under the name edits, or edits.2 and so
// on; Change.Edited names it. One that is made or changed after its path was dealt with stays. A folder, or something
// that is no file, at the place of a file is left there: the error is a [*StoppedError], and other files may have been
// moved.
//
// Restore may be killed at any moment and called again with the same trees: it finishes, and keeps what the killed call
// had taken out. What it did is on disk when it returns. Change is also valid with an error. The error is [git.ErrNoGit]
// without git.
func (t *WorkTree) Restore(ctx context.Context, from, to, edits string) (Change, error) {
	var c Change
	err := t.Ready(ctx, edits)
	if err == nil {
		c.Edited, err = t.recover(ctx)
	}
	if err == nil {
		err = t.planned(ctx, from, to, func(p *plan, s *stage) error {
			c.Written, c.Removed, c.Left = git.Listed(git.Sorted(p.write)), git.Listed(git.Sorted(p.remove)), git.Listed(git.Sorted(p.left))
			found, err := t.carryOut(ctx, p, s, edits)
			c.Edited = append(c.Edited, found...)
			return err
		})
	}
	if err != nil {
		return c, fmt.Errorf("restore of %.12q: %w", to, err)
	}
	return c, nil
}

// Clear is a [WorkTree.Restore] of the empty tree: it takes away what the snapshot from has.
func (t *WorkTree) Clear(ctx context.Context, from, edits string) (Change, error) {
	if err := t.Ready(ctx, edits); err != nil {
		return Change{}, err
	}
	empty, err := t.TreeID("")
	if err != nil {
		return Change{}, err
	}
	return t.Restore(ctx, from, empty, edits)
}

// Blocked returns the error that [WorkTree.Restore] of the same trees would return before it changes anything, a
// [*BlockedError] for one; nil if it would go ahead, or has nothing to do. It makes the files aside as Restore does, and
// changes nothing itself.
func (t *WorkTree) Blocked(ctx context.Context, from, to string) error {
	if err := t.planned(ctx, from, to, func(*plan, *stage) error { return nil }); err != nil {
		return fmt.Errorf("restore of %.12q: %w", to, err)
	}
	return nil
}

// planned calls do, if there is anything to do, with a plan that nothing stands in the way of.
func (t *WorkTree) planned(ctx context.Context, from, to string, do func(*plan, *stage) error) error {
	if !t.Git() {
		return git.ErrNoGit
	}
	for _, id := range []string{from, to} {
		if !repository.IsID(id) {
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

// prune removes the folder if it is empty, and those above that it was the last in. It returns the one that stays.
func (t *WorkTree) prune(dir string) string {
	for dir != "." && t.IsFolder(dir) && rmdir(t.Path(dir)) == nil {
		dir = path.Dir(dir)
	}
	return dir
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
	return atomicfile.Fill(dst, src)
}
