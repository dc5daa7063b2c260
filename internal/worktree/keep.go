package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// errLost: an object of the tree is in no store any more. The private store borrows from the user's, where git may have
// deleted what nothing of the user's leads to.
var errLost = errors.New("some of it is gone from the repository; take it again")

// A kept tree is one with a ref.
type kept struct {
	name, tree, commit string
	of                 *listing // what the tree is of; nil where it is not known
}

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

// SaveRef makes refs/ferrus/<name> point at a commit of the tree, which [Tree.Fingerprint], [Tree.Snapshot] or [Tree.Merge]
// returned, or which the repository has. Then every work tree of the repository has it, until [Tree.Forget]: what the
// user's object store lacks moves there from the private one. The name is one that `git check-ref-format` takes, such
// as <task>/<seq>; what it held before is let go.
//
// The commit has no parent, and its author and date are always the same: equal trees have equal commits. All of it is on
// disk when Keep returns. The error is [ErrNoGit] without git, and nothing is kept after any.
func (t *Tree) SaveRef(ctx context.Context, name, tree string) error {
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
		return git.ErrNoGit
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
	k := kept{name, tree, base.commit, base.of}
	var l transfer
	if tree != base.tree {
		k.of = t.listed(tree)
		need, err := t.news(ctx, base, k)
		if err != nil {
			return k, err
		}
		if k.commit, err = t.commit(tree); err != nil {
			return k, err
		}
		if l, err = t.transferObjects(ctx, append(need, k.commit)); err != nil {
			return k, err
		}
		if err := t.sync(t.objects); err != nil {
			return k, err
		}
	}
	made, err := t.makeRef(k, base)
	if err == nil && !made {
		err = t.updateRefs(ctx, k.orders(base))
	}
	if err != nil {
		return k, err
	}
	if err := t.syncRefs(refs + name); err != nil {
		return k, err
	}
	return k, t.verifyTransfer(ctx, l)
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

// makeRef makes a ref in a folder that has some, without a process. It reports false where that is for git to do: to make
// the folder, to change a ref, to say what is wrong, or to write refs that are not files. The base that k was compared with
// must still be there when the ref is: until then it has protected what the two share, and from then on the ref does.
func (t *Tree) makeRef(k, base kept) (made bool, err error) {
	head, err := os.Stat(filepath.Join(t.common, "HEAD"))
	if err != nil || filestat.Exists(filepath.Join(t.common, "reftable")) || !t.isKept(base) {
		return false, nil
	}
	root, err := rootfs.Open(t.common)
	if err != nil {
		return false, nil
	}
	defer root.Close()
	to, err := root.Entry(refs + k.name)
	if err != nil {
		return false, nil
	}
	defer to.Dir.Close()
	draft, err := t.tempFile("draft-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(draft.Name()) // gone when it has become the ref
	_, err = draft.WriteString(k.commit + "\n")
	if err = errors.Join(err, draft.Chmod(head.Mode().Perm()), draft.Sync(), draft.Close()); err != nil {
		return false, err
	}
	from, err := placeOf(draft.Name())
	if err != nil {
		return false, err
	}
	defer from.close()
	t.at()
	if moveNew(from, place{Entry: to}) != nil {
		return false, nil // there is such a ref, or the folder is on another disk
	}
	if !t.isKept(base) {
		return true, errLost
	}
	return true, nil
}

// isKept reports whether a ref is a file that has the commit of k. No ref is one that is always there.
func (t *Tree) isKept(k kept) bool {
	if k.name == "" {
		return true
	}
	text, err := rootfs.ReadRegular(filepath.Join(t.common, filepath.FromSlash(refs+k.name)), maxRef)
	return err == nil && strings.TrimSpace(string(text)) == k.commit
}

// commit writes a commit of a tree into the private store. It is a function of the tree and its parents.
func (t *Tree) commit(tree string, parents ...string) (string, error) {
	const nobody = "ferrus <ferrus@localhost> 0 +0000"
	text := "tree " + tree + "\n"
	for _, p := range parents {
		text += "parent " + p + "\n"
	}
	text += "author " + nobody + "\ncommitter " + nobody + "\n\nferrus\n"
	id := t.idOf("commit", []byte(text))
	if filestat.Exists(loose(t.store(), id)) || filestat.Exists(loose(t.objects, id)) {
		return id, nil
	}
	return id, t.storeObject("commit", id, []byte(text))
}

// listed is the listing that a tree was made of, nil if it is not the newest.
func (t *Tree) listed(tree string) *listing {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest == nil || t.newest.id != tree {
		return nil
	}
	return t.newest
}

// news lists the objects that a tree has and base has not: files, folders and the tree itself. Where base is none it is
// HEAD's.
func (t *Tree) news(ctx context.Context, base, k kept) ([]string, error) {
	if base.of != nil && k.of != nil {
		return k.of.news(base.of), nil
	}
	ids := []string{k.tree}
	err := t.reading(ctx, func(o *objects) (err error) {
		than := base.tree
		if than == "" {
			if than, err = o.treeOf(t.commitAt(ctx, t.gitDir, t.common)); err != nil {
				return err
			}
		}
		all, err := o.difference(than, k.tree)
		for _, d := range all {
			if d.new {
				ids = append(ids, d.id)
			}
		}
		return err
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// news lists the objects of a listing's tree that those of base do not have at the same path.
func (l *listing) news(base *listing) (ids []string) {
	for id := range l.trees {
		if !base.trees[id] {
			ids = append(ids, id)
		}
	}
	had := base.files
	for _, f := range l.files {
		for len(had) > 0 && had[0].path < f.path {
			had = had[1:]
		}
		if !f.link() && (len(had) == 0 || had[0].path != f.path || had[0].id != f.id) {
			ids = append(ids, f.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// ReadRef returns the tree that is kept under that name, "" if none is.
func (t *Tree) ReadRef(ctx context.Context, name string) (string, error) {
	err := t.ready(ctx, name)
	if err == nil {
		var out []byte
		out, _, err = t.user().Run(ctx, "for-each-ref", "--format=%(refname) %(tree)", refs+name)
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
	paths := gitpath.Set{}
	for _, name := range names {
		for path := filepath.Join(t.common, filepath.FromSlash(name)); path != t.common && !paths[path]; path = filepath.Dir(path) {
			paths.Add(path)
		}
	}
	return gitpath.Each(gitpath.Sorted(paths), syncFile)
}
