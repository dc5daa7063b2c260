package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// errLost: an object of the tree is in no store any more. The private store borrows from the user's, where git may have
// deleted what nothing of the user's leads to.
var errLost = errors.New("some of it is gone from the repository; take it again")

// A kept tree is one with a ref.
type kept struct {
	name, tree, commit string
	of                 Source // what the tree is of; nil where it is not known
}

// SaveRef makes refs/ferrus/<name> point at a commit of the tree, which is in the private store or
// which the repository has. Then every work tree of the repository has it, until [Repository.DeleteRefs]: what the
// user's object store lacks moves there from the private one. The name is one that `git check-ref-format` takes, such
// as <task>/<seq>; what it held before is let go.
//
// The commit has no parent, and its author and date are always the same: equal trees have equal commits. All of it is on
// disk when SaveRef returns. The error is [git.ErrNoGit] without git, and nothing is saved after any.
func (r *Repository) SaveRef(ctx context.Context, name, tree string) error {
	err := r.Ready(ctx, name)
	if err == nil && !IsID(tree) {
		err = errors.New("not an object id")
	}
	if err == nil {
		err = r.SaveTree(ctx, name, tree)
	}
	if err != nil {
		return fmt.Errorf("keep %.12q as %q: %w", tree, name, err)
	}
	return nil
}

// Ready is [Repository.Prepare], with an error for a name that [CheckName] does not take, and [git.ErrNoGit] without git.
func (r *Repository) Ready(ctx context.Context, name string) error {
	if !r.Git() {
		return git.ErrNoGit
	}
	if err := CheckName(name); err != nil {
		return err
	}
	return r.Prepare(ctx)
}

// SaveTree is [Repository.SaveRef] after [Repository.Ready], of a tree that the caller has made; its error says only the cause.
//
// It transfers what is new since the tree that was kept last. Where that has been forgotten meanwhile, git may have deleted
// what the two share: then, and the first time, it is what HEAD does not have.
func (r *Repository) SaveTree(ctx context.Context, name, tree string) error {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	k, err := r.keepBeside(ctx, last, name, tree)
	if err != nil && last.name != "" && ctx.Err() == nil {
		k, err = r.keepBeside(ctx, kept{}, name, tree)
	}
	if err == nil {
		r.mu.Lock()
		r.last = k
		r.mu.Unlock()
	}
	return err
}

// keepBeside saves a tree given that base is saved and still will be when the ref is made, or HEAD if base is none.
func (r *Repository) keepBeside(ctx context.Context, base kept, name, tree string) (kept, error) {
	k := kept{name, tree, base.commit, base.of}
	var l transfer
	if tree != base.tree {
		k.of = r.sourceOf(tree)
		need, err := r.news(ctx, base, k)
		if err != nil {
			return k, err
		}
		if k.commit, err = r.WriteCommit(tree); err != nil {
			return k, err
		}
		if l, err = r.transferObjects(ctx, append(need, k.commit)); err != nil {
			return k, err
		}
		if err := r.sync(r.objects); err != nil {
			return k, err
		}
	}
	made, err := r.makeRef(k, base)
	if err == nil && !made {
		err = r.updateRefs(ctx, k.orders(base))
	}
	if err != nil {
		return k, err
	}
	if err := r.syncRefs(RefPrefix + name); err != nil {
		return k, err
	}
	return k, r.verifyTransfer(ctx, l)
}

// orders are for git update-ref: one transaction that verifies that base is still there and makes the ref, or does
// neither.
func (k kept) orders(base kept) string {
	update := "option no-deref\nupdate " + RefPrefix + k.name + " " + k.commit
	switch base.name {
	case "":
		return update + "\n"
	case k.name:
		return update + " " + base.commit + "\n"
	}
	return "verify " + RefPrefix + base.name + " " + base.commit + "\n" + update + "\n"
}

// makeRef makes a ref in a folder that has some, without a process. It reports false where that is for git to do: to make
// the folder, to change a ref, to say what is wrong, or to write refs that are not files. The base that k was compared with
// must still be there when the ref is: until then it has protected what the two share, and from then on the ref does.
func (r *Repository) makeRef(k, base kept) (made bool, err error) {
	head, err := os.Stat(filepath.Join(r.common, "HEAD"))
	if err != nil || filestat.Exists(filepath.Join(r.common, "reftable")) || !r.isKept(base) {
		return false, nil
	}
	root, err := rootfs.Open(r.common)
	if err != nil {
		return false, nil
	}
	defer root.Close()
	to, err := root.Entry(RefPrefix + k.name)
	if err != nil {
		return false, nil
	}
	defer to.Dir.Close()
	draft, err := r.tempFile("draft-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(draft.Name()) // gone when it has become the ref
	_, err = draft.WriteString(k.commit + "\n")
	if err = errors.Join(err, draft.Chmod(head.Mode().Perm()), draft.Sync(), draft.Close()); err != nil {
		return false, err
	}
	folder, name := filepath.Split(draft.Name())
	from, err := os.Open(folder)
	if err != nil {
		return false, err
	}
	defer from.Close()
	r.Changing()
	if rootfs.RenameNew(rootfs.Entry{Dir: from, Name: name, At: folder}, to) != nil {
		return false, nil // there is such a ref, or the folder is on another disk
	}
	if !r.isKept(base) {
		return true, errLost
	}
	return true, nil
}

// isKept reports whether a ref is a file that has the commit of k. No ref is one that is always there.
func (r *Repository) isKept(k kept) bool {
	if k.name == "" {
		return true
	}
	text, err := rootfs.ReadRegular(filepath.Join(r.common, filepath.FromSlash(RefPrefix+k.name)), maxRef)
	return err == nil && strings.TrimSpace(string(text)) == k.commit
}

// WriteCommit writes a commit of a tree into the private store and returns its id, which is a function of the tree and its
// parents.
func (r *Repository) WriteCommit(tree string, parents ...string) (string, error) {
	id, text := r.commit(tree, parents...)
	if filestat.Exists(loose(r.store(), id)) || filestat.Exists(loose(r.objects, id)) {
		return id, nil
	}
	return id, r.WriteObject("commit", id, text)
}

// CommitID returns the id of the commit that [Repository.WriteCommit] writes. It writes nothing. An empty parent is none.
func (r *Repository) CommitID(tree, parent string) string {
	id, _ := r.commit(tree, parents(parent)...)
	return id
}

// parents are those of a commit with one parent, or with none for "".
func parents(parent string) []string {
	if parent == "" {
		return nil
	}
	return []string{parent}
}

// commit is the commit that [Repository.WriteCommit] writes.
func (r *Repository) commit(tree string, parents ...string) (id string, text []byte) {
	const nobody = "ferrus <ferrus@localhost> 0 +0000"
	text = append(text, "tree "+tree+"\n"...)
	for _, p := range parents {
		text = append(text, "parent "+p+"\n"...)
	}
	text = append(text, "author "+nobody+"\ncommitter "+nobody+"\n\nferrus\n"...)
	return r.ID("commit", text), text
}

// A Source is what a tree was made of. Where it is known, what is new in the tree need not be read from the stores. All
// sources that a Repository is given are of one type.
type Source interface {
	// News lists the objects of the tree that the tree of base does not have at the same path.
	News(base Source) []string
}

// Remember says what the newest tree was made of, for the next [Repository.SaveRef] of it. of is not changed any more.
func (r *Repository) Remember(tree string, of Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made.tree, r.made.of = tree, of
}

// sourceOf is what a tree was made of, nil if it is not the newest.
func (r *Repository) sourceOf(tree string) Source {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made.tree != tree {
		return nil
	}
	return r.made.of
}

// news lists the objects that a tree has and base has not: files, folders and the tree itself. Where base is none it is
// HEAD's.
func (r *Repository) news(ctx context.Context, base, k kept) ([]string, error) {
	if base.of != nil && k.of != nil {
		return k.of.News(base.of), nil
	}
	ids := []string{k.tree}
	err := r.reading(ctx, func(o *objects) (err error) {
		than := base.tree
		if than == "" {
			if than, err = o.treeOf(r.HeadCommit(ctx)); err != nil {
				return err
			}
		}
		all, err := o.difference(than, k.tree)
		for _, d := range all {
			if d.new {
				ids = append(ids, d.ID)
			}
		}
		return err
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// ReadRef returns the tree that is saved under that name, "" if none is.
func (r *Repository) ReadRef(ctx context.Context, name string) (string, error) {
	err := r.Ready(ctx, name)
	if err == nil {
		var out []byte
		out, _, err = r.UserCommand().Run(ctx, "for-each-ref", "--format=%(refname) %(tree)", RefPrefix+name)
		if err == nil {
			// The pattern is also the folder of other names.
			for line := range strings.Lines(string(out)) {
				if tree, ok := strings.CutPrefix(line, RefPrefix+name+" "); ok {
					return strings.TrimSpace(tree), nil
				}
			}
			return "", nil
		}
	}
	return "", fmt.Errorf("read the files saved as %q: %w", name, err)
}

// syncRefs brings refs, by their whole names, to disk, with the folders that lead to them. Git itself syncs refs since
// 2.36, but no folder.
func (r *Repository) syncRefs(names ...string) error {
	paths := git.Set{}
	for _, name := range names {
		for path := filepath.Join(r.common, filepath.FromSlash(name)); path != r.common && !paths[path]; path = filepath.Dir(path) {
			paths.Add(path)
		}
	}
	return git.Each(git.Sorted(paths), SyncFile)
}
