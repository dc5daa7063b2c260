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
	head, err := t.resolve(ctx, "HEAD^{tree}")
	if err != nil {
		return false, fmt.Errorf("head of %s: %w", t.dir, err)
	}
	between := func(from, to string) (paths []delta, err error) {
		ids, err := t.ends(ctx, from, to)
		if err != nil {
			return nil, err
		}
		return t.deltas(ctx, ids[0], ids[1])
	}
	open, err := between(head, now)
	if err != nil || len(open) == 0 {
		return false, err
	}
	work, err := between(from, to)
	return slices.ContainsFunc(work, func(d delta) bool {
		return slices.ContainsFunc(open, func(o delta) bool { return o.path == d.path })
	}), err
}
