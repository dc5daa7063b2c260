package worktree

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// Fingerprint is the id of the git tree that the work tree holds now: tracked and untracked files, their executable
// bits and links; not what git ignores, unless it is tracked, nor what [Open] leaves out. Equal trees have equal ids,
// whatever happened before. It is "" without git.
//
// An embedded repository or submodule counts by the commit that it has checked out; without a commit it does not
// count. A file that cannot be read is an error that names it. A file costs one stat if ferrus has read it before and the
// file system dates every change; on others (tmpfs, network, all but Linux) each file is read.
//
// The tree's new objects are in the private store but need not survive a power cut; see [Tree.Snapshot].
func (t *Tree) Fingerprint(ctx context.Context) (string, error) {
	if !t.Git() {
		return "", nil
	}
	id, err := t.fingerprint(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", t.Top(), err)
	}
	return id, nil
}

// fingerprint makes the tree, all of it for nil, else by the rules of [Tree.Inspect].
func (t *Tree) fingerprint(ctx context.Context, in *inspection) (string, error) {
	if err := t.Prepare(ctx); err != nil {
		return "", err
	}
	id, err := t.writeTree(ctx, false, in)
	if err != nil && ctx.Err() == nil && !errors.Is(err, rootfs.ErrNotRegular) {
		// A file may have gone while it was read, or an object from its store. Once more, with nothing believed.
		id, err = t.writeTree(ctx, true, in)
	}
	return id, err
}

// Snapshot is Fingerprint, and the objects of the tree are on disk when it returns.
func (t *Tree) Snapshot(ctx context.Context) (string, error) {
	id, err := t.Fingerprint(ctx)
	if err != nil || id == "" {
		return id, err
	}
	if err := t.SyncObjects(); err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", t.Top(), err)
	}
	return id, nil
}

// writeTree lists what counts, hashes what is not known by its identity, and writes the tree. With fresh nothing is
// believed that was read before, neither content nor that an object is in a store.
func (t *Tree) writeTree(ctx context.Context, fresh bool, in *inspection) (string, error) {
	t.Sweep()
	now := t.clock()
	l, err := t.list(ctx)
	if err != nil {
		return "", err
	}
	return t.treeOfFiles(ctx, l, now, fresh, in)
}
