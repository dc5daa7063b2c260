package worktree

import (
	"context"
	"fmt"
	"slices"
)

// Uncommitted reports whether a path that differs between two trees, as in [Tree.Changed], has other contents in the work
// tree than in the commit that is checked out. It is false without git.
func (t *Tree) Uncommitted(ctx context.Context, from, to string) (bool, error) {
	if !t.Git() {
		return false, nil
	}
	now, err := t.Fingerprint(ctx)
	if err != nil {
		return false, err
	}
	uncommitted := false
	err = t.reading(ctx, func(o *objects) error {
		o.links = true
		head, err := o.treeOf(t.commitAt(ctx, t.gitDir, t.common))
		if err != nil {
			return err
		}
		open, err := o.difference(head, now)
		if err != nil || len(open) == 0 {
			return err
		}
		work, err := o.difference(from, to)
		uncommitted = slices.ContainsFunc(work, func(w side) bool {
			return w.mode != modeTree && slices.ContainsFunc(open, func(s side) bool { return s.path == w.path })
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("head of %s: %w", t.dir, err)
	}
	return uncommitted, nil
}

// HeadAndIndex is a text that changes when something is committed, staged or checked out. It starts no process where refs
// are files. It is "" without git.
func (t *Tree) HeadAndIndex(ctx context.Context) string {
	if !t.Git() {
		return ""
	}
	index := find(t.index)
	if index.info == nil {
		return t.commitAt(ctx, t.gitDir, t.common)
	}
	return fmt.Sprint(t.commitAt(ctx, t.gitDir, t.common), index.info.ModTime().UnixNano(), index.info.Size())
}
