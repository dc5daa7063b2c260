package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/rootfs"
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
	if err := t.prepare(ctx); err != nil {
		return "", err
	}
	id, err := t.writeTree(ctx, false)
	if err != nil && ctx.Err() == nil && !errors.Is(err, rootfs.ErrNotRegular) {
		// A file may have gone while it was read, or an object from its store. Once more, with nothing believed.
		id, err = t.writeTree(ctx, true)
	}
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", t.dir, err)
	}
	return id, nil
}

// Snapshot is Fingerprint, and the objects of the tree are on disk when it returns.
func (t *Tree) Snapshot(ctx context.Context) (string, error) {
	id, err := t.Fingerprint(ctx)
	if err != nil || id == "" {
		return id, err
	}
	for _, store := range []string{t.store(), t.objects} {
		if err := t.sync(store); err != nil {
			return "", fmt.Errorf("snapshot of %s: %w", t.dir, err)
		}
	}
	return id, nil
}

// writeTree lists what counts, hashes what is not known by its identity, and writes the tree. With fresh nothing is
// believed that was read before, neither content nor that an object is in a store.
func (t *Tree) writeTree(ctx context.Context, fresh bool) (string, error) {
	t.sweep()
	now := t.clock()
	l, err := t.list(ctx)
	if err != nil {
		return "", err
	}
	return t.treeOfFiles(ctx, l, now, fresh)
}

// store is the private object store.
func (t *Tree) store() string { return filepath.Join(t.private, "objects") }

// user is a call in the project's own git directory, for refs, HEAD and the index as a list: nothing else there is to be
// asked, for the rest of it can make git run programs.
func (t *Tree) user() git.Command {
	env := []string{"GIT_DIR=" + t.gitDir, "GIT_COMMON_DIR=" + t.common, "GIT_WORK_TREE=" + t.dir}
	return git.Command{Dir: t.dir, Env: append(env, git.Isolated...)}
}

// own is a call in the private git directory on one object store; the other, if any, is only read.
func (t *Tree) own(store string, others ...string) git.Command {
	env := []string{"GIT_DIR=" + t.repository(), "GIT_COMMON_DIR=" + t.repository(), "GIT_WORK_TREE=" + t.dir,
		"GIT_OBJECT_DIRECTORY=" + store}
	for i, other := range others {
		others[i] = quoted(other)
	}
	if len(others) > 0 {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(others, string(os.PathListSeparator)))
	}
	return git.Command{Dir: t.dir, Env: append(env, git.Isolated...)}
}

// storing is a call about files and objects, which writes to the private object store and reads both; git follows the
// alternates of the project's own.
func (t *Tree) storing() git.Command {
	c := t.own(t.store(), t.objects)
	c.Config = syncedByGit
	return c
}

// quoted is how git reads a path in a list of alternates.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
