package worktree

import (
	"context"
	"fmt"
)

// Uncommitted reports whether a path that differs between two trees, as in [Tree.Changed], has other contents in the work
// tree than in the commit that is checked out. A file that [Tree.Inspect] skips counts as in to. It is false without git.
func (t *Tree) Uncommitted(ctx context.Context, from, to string) (bool, error) {
	if !t.Git() {
		return false, nil
	}
	now, _, err := t.Inspect(ctx, to)
	if err != nil {
		return false, err
	}
	uncommitted, err := t.ChangedSinceHead(ctx, now, from, to)
	if err != nil {
		return false, fmt.Errorf("head of %s: %w", t.Top(), err)
	}
	return uncommitted, nil
}

// HeadAndIndex is a text that changes when something is committed, staged or checked out. It starts no process where refs
// are files. It is "" without git.
func (t *Tree) HeadAndIndex(ctx context.Context) string {
	if !t.Git() {
		return ""
	}
	index := find(t.IndexFile())
	if index.info == nil {
		return t.HeadCommit(ctx)
	}
	return fmt.Sprint(t.HeadCommit(ctx), index.info.ModTime().UnixNano(), index.info.Size())
}
