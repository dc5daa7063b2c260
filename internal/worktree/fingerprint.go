package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Fingerprint is the id of the git tree that the work tree holds now: tracked and untracked files, their executable
// bits and links; not what git ignores, unless it is tracked, nor what [Open] leaves out. Equal trees have equal ids,
// whatever happened before. It is "" without git.
//
// An embedded repository or submodule counts by the commit that it has checked out; without a commit it does not
// count. A file that cannot be read is an error that names it. Unchanged files cost one stat.
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
	if err != nil && ctx.Err() == nil {
		// The private index may be broken, or a file may have gone while git read it. Once more, from the user's.
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

// writeTree makes a draft index equal to the work tree and writes its tree.
func (t *Tree) writeTree(ctx context.Context, fresh bool) (string, error) {
	d, err := t.newDraft(fresh)
	if err != nil {
		return "", err
	}
	defer d.discard()
	l, err := t.list(ctx, d)
	if err != nil {
		return "", err
	}
	if l.fix.any() {
		if err := t.repair(ctx, d, l.fix); err != nil {
			return "", err
		}
		if l, err = t.list(ctx, d); err != nil {
			return "", err
		}
	}
	embedded, err := t.update(ctx, d, l)
	if err != nil {
		return "", err
	}
	out, _, err := t.on(d).run(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	// A private index keeps no repository that the user's does not have: git would hold on to its commit after it has
	// none. Nor does it keep files hidden by a sparse checkout, whose extent may change.
	if err := t.remove(ctx, d, embedded); err != nil {
		return "", err
	}
	if !l.sparse {
		d.publish()
	}
	return strings.TrimSpace(string(out)), nil
}

// update brings the draft to what the listing says. It returns the embedded repositories it added.
func (t *Tree) update(ctx context.Context, d *draft, l *listing) (embedded []string, err error) {
	if err := t.remove(ctx, d, l.gone); err != nil {
		return nil, err
	}
	add := l.changed
	for _, path := range l.others {
		repo, ok := strings.CutSuffix(path, "/")
		if !ok {
			add = append(add, path)
		} else if t.hasCommit(ctx, repo) {
			embedded = append(embedded, repo)
		}
	}
	add = append(add, embedded...)
	if len(add) == 0 {
		return embedded, nil
	}
	c := t.on(d)
	c.stdin = zlist(add)
	// --remove: a file may have gone since it was listed.
	_, _, err = c.run(ctx, "update-index", "--add", "--remove", "-z", "--stdin")
	return embedded, err
}

// remove takes paths out of the draft, whatever the work tree holds.
func (t *Tree) remove(ctx context.Context, d *draft, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	c := t.on(d)
	c.stdin = zlist(paths)
	_, _, err := c.run(ctx, "update-index", "--force-remove", "-z", "--stdin")
	return err
}

// repair makes the draft show what it would hide.
func (t *Tree) repair(ctx context.Context, d *draft, f fixes) error {
	for flag, paths := range map[string][]string{
		"--no-assume-unchanged": f.assumed,
		"--no-skip-worktree":    f.skipped,
	} {
		if len(paths) == 0 {
			continue
		}
		c := t.on(d)
		c.stdin = zlist(paths)
		if _, _, err := c.run(ctx, "update-index", flag, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return t.remove(ctx, d, f.links)
}

// hasCommit reports whether the embedded repository has a commit checked out.
func (t *Tree) hasCommit(ctx context.Context, repo string) bool {
	c := command{dir: t.dir, flags: []string{"--git-dir=" + filepath.Join(t.dir, filepath.FromSlash(repo), ".git")}}
	_, _, err := c.run(ctx, "rev-parse", "-q", "--verify", "HEAD")
	return err == nil
}

// store is the private object store.
func (t *Tree) store() string { return filepath.Join(t.private, "objects") }

// user is a call in the project's own git directory, for refs, HEAD and the index as a list: nothing else there is to be
// asked, for the rest of it can make git run programs.
func (t *Tree) user() command {
	env := []string{"GIT_DIR=" + t.gitDir, "GIT_COMMON_DIR=" + t.common, "GIT_WORK_TREE=" + t.dir}
	return command{dir: t.dir, env: append(env, isolated...)}
}

// own is a call in the private git directory on one object store; the other, if any, is only read.
func (t *Tree) own(store string, others ...string) command {
	env := []string{"GIT_DIR=" + t.repository(), "GIT_COMMON_DIR=" + t.repository(), "GIT_WORK_TREE=" + t.dir,
		"GIT_OBJECT_DIRECTORY=" + store}
	for i, other := range others {
		others[i] = quoted(other)
	}
	if len(others) > 0 {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(others, string(os.PathListSeparator)))
	}
	return command{dir: t.dir, env: append(env, isolated...)}
}

// storing is a call about files and objects, which writes to the private object store and reads both; git follows the
// alternates of the project's own.
func (t *Tree) storing() command {
	c := t.own(t.store(), t.objects)
	c.config = syncedByGit
	return c
}

// quoted is how git reads a path in a list of alternates.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// on is such a call on a draft.
func (t *Tree) on(d *draft) command {
	c := t.storing()
	c.env = append(c.env, "GIT_INDEX_FILE="+d.path)
	return c
}

// zlist is how git reads a list of paths that may hold any byte but NUL.
func zlist(paths []string) *strings.Reader {
	return strings.NewReader(strings.Join(paths, "\x00") + "\x00")
}

// zsplit is the reverse.
func zsplit(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// together runs the calls at once and joins their errors.
func together(calls ...func() error) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
