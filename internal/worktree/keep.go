package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// errLost: an object of the tree is in no store any more. The private store borrows from the user's, where git may have
// deleted what nothing of the user's leads to.
var errLost = errors.New("some of it is gone from the repository; take it again")

// nobody makes the commits that hold trees, and never: a commit is a function of its tree.
var nobody = []string{
	"GIT_AUTHOR_NAME=ferrus", "GIT_AUTHOR_EMAIL=ferrus@localhost", "GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=ferrus", "GIT_COMMITTER_EMAIL=ferrus@localhost", "GIT_COMMITTER_DATE=@0 +0000",
}

// A kept tree is one with a ref.
type kept struct{ name, tree, commit string }

// Save is [Tree.Fingerprint] and [Tree.Keep] in one: it keeps the tree that the work tree holds now under that name,
// and returns its id. When it returns, the tree is on disk and survives every git gc until it is forgotten.
func (t *Tree) Save(ctx context.Context, name string) (string, error) {
	tree, err := t.save(ctx, name)
	if err != nil {
		return "", fmt.Errorf("save of %s as %q: %w", t.dir, name, err)
	}
	return tree, nil
}

func (t *Tree) save(ctx context.Context, name string) (string, error) {
	if err := t.ready(ctx, name); err != nil {
		return "", err
	}
	tree, err := t.Fingerprint(ctx)
	if err != nil {
		return "", err
	}
	if err = t.keep(ctx, name, tree); err == nil || ctx.Err() != nil {
		return tree, err
	}
	// The private index may believe in files that git has deleted since. The user's does not: what it names, git leaves.
	if tree, err = t.writeTree(ctx, true); err != nil {
		return "", err
	}
	return tree, t.keep(ctx, name, tree)
}

// Keep makes refs/ferrus/<name> point at a commit of the tree, which [Tree.Fingerprint], [Tree.Snapshot] or [Tree.Merge]
// returned, or which the repository has. Then every work tree of the repository has it, until [Tree.Forget]: what the
// user's object store lacks moves there from the private one. The name is one that `git check-ref-format` takes, such
// as <task>/<seq>; what it held before is let go.
//
// The commit has no parent, and its author and date are always the same: equal trees have equal commits. All of it is on
// disk when Keep returns. The error is [ErrNoGit] without git, and nothing is kept after any.
func (t *Tree) Keep(ctx context.Context, name, tree string) error {
	err := t.ready(ctx, name)
	if err == nil && !objectID.MatchString(tree) {
		err = errors.New("not an object id")
	}
	if err == nil {
		err = t.keep(ctx, name, tree)
	}
	if err != nil {
		return fmt.Errorf("keep %.12q as %q: %w", tree, name, err)
	}
	return nil
}

// ready makes the private folder where there is a repository and the name is one.
func (t *Tree) ready(ctx context.Context, name string) error {
	if !t.Git() {
		return ErrNoGit
	}
	if err := checkName(name); err != nil {
		return err
	}
	return t.prepare(ctx)
}

// keep brings over what is new since the tree that was kept last. Where that has been forgotten meanwhile, git may have
// deleted what the two share: then, and the first time, it is what HEAD does not have.
func (t *Tree) keep(ctx context.Context, name, tree string) error {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	k, err := t.keepBeside(ctx, last, name, tree)
	if err != nil && last.name != "" && ctx.Err() == nil {
		k, err = t.keepBeside(ctx, kept{}, name, tree)
	}
	if err == nil {
		t.mu.Lock()
		t.last = k
		t.mu.Unlock()
	}
	return err
}

// keepBeside keeps a tree given that base is kept and still will be when the ref is made, or HEAD if base is none.
func (t *Tree) keepBeside(ctx context.Context, base kept, name, tree string) (kept, error) {
	k := kept{name: name, tree: tree, commit: base.commit}
	var l loan
	if tree != base.tree {
		var need []string
		err := together(func() (err error) {
			k.commit, err = t.commit(ctx, tree)
			return err
		}, func() (err error) {
			need, err = t.news(ctx, base.tree, tree)
			return err
		})
		if err != nil {
			return k, err
		}
		if l, err = t.lend(ctx, append(need, k.commit)); err != nil {
			return k, err
		}
		if err := t.sync(t.objects); err != nil {
			return k, err
		}
	}
	if err := t.updateRefs(ctx, k.orders(base)); err != nil {
		return k, err
	}
	if err := t.syncRefs(refs + name); err != nil {
		return k, err
	}
	return k, t.settle(ctx, l)
}

// orders are for git update-ref: one transaction that verifies that base is still there and makes the ref, or does
// neither.
func (k kept) orders(base kept) string {
	update := "option no-deref\nupdate " + refs + k.name + " " + k.commit
	switch base.name {
	case "":
		return update + "\n"
	case k.name:
		return update + " " + base.commit + "\n"
	}
	return "verify " + refs + base.name + " " + base.commit + "\n" + update + "\n"
}

// commit writes a commit of a tree into the private store.
func (t *Tree) commit(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", "-m", "ferrus"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	c := t.storing()
	c.env = append(c.env, nobody...)
	c.config = append(slices.Clone(c.config), "i18n.commitEncoding=UTF-8")
	out, _, err := c.run(ctx, append(args, tree)...)
	return strings.TrimSpace(string(out)), err
}

// news lists the objects that tree has and base has not: files, folders and tree itself. Where base is "" it is HEAD's.
func (t *Tree) news(ctx context.Context, base, tree string) ([]string, error) {
	if base == "" {
		head, err := t.resolve(ctx, "HEAD^{tree}")
		if err == nil {
			base, err = t.treeID(ctx, head)
		}
		if err != nil {
			return nil, err
		}
	}
	all, err := t.deltas(ctx, base, tree, "-t")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err) // one of its folders
	}
	ids := []string{tree}
	seen := map[string]bool{tree: true}
	for _, d := range all {
		if id := d.new.id; d.new.exists() && !d.new.link() && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Kept returns the tree that is kept under that name, "" if none is.
func (t *Tree) Kept(ctx context.Context, name string) (string, error) {
	err := t.ready(ctx, name)
	if err == nil {
		var out []byte
		out, _, err = t.user().run(ctx, "for-each-ref", "--format=%(refname) %(tree)", refs+name)
		if err == nil {
			// The pattern is also the folder of other names.
			for line := range strings.Lines(string(out)) {
				if tree, ok := strings.CutPrefix(line, refs+name+" "); ok {
					return strings.TrimSpace(tree), nil
				}
			}
			return "", nil
		}
	}
	return "", fmt.Errorf("what is kept as %q: %w", name, err)
}

// syncRefs brings refs, by their whole names, to disk, with the folders that lead to them. Git itself syncs refs since
// 2.36, but no folder.
func (t *Tree) syncRefs(names ...string) error {
	paths := set{}
	for _, name := range names {
		for path := filepath.Join(t.common, filepath.FromSlash(name)); path != t.common && !paths[path]; path = filepath.Dir(path) {
			paths.add(path)
		}
	}
	return each(sorted(paths), syncFile)
}
