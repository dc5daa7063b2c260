// Package repository is the git repository of a work tree, as ferrus uses it. It has ferrus's own git directory, in which every
// call about files and objects runs, and the rules that are frozen there: filters, attributes, excludes. It reads, writes and
// verifies objects, keeps trees under refs/ferrus/ in the user's repository, and makes and removes linked work trees.
//
// It does not know which files a work tree holds at the moment, and changes none of them, but for those of a linked work tree
// that it makes or removes. The user's index, HEAD, stash, other refs and configuration are read, never changed.
package repository

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A Repository is the git repository of a work tree, or none where there is only a plain folder. It may be used by several
// goroutines and several processes at once.
type Repository struct {
	dir     string // the top level of the work tree; without git the folder given to Open
	private string // ours alone: the private git directory, indexes and objects

	// Empty without git. The git dir is named in every call: if it is deleted, git says so instead of finding another
	// repository further up.
	gitDir  string
	common  string // the git dir that all work trees of the repository share
	objects string // the repository's own object store
	index   string // the user's index
	nothing string // the id of no object

	mu    sync.Mutex
	last  kept      // what was kept last
	rules *gitRules // nil until first needed
	made  struct {  // the newest tree, and what it was made of
		tree string
		of   Source
	}

	step func() // called before each change of a file outside private; for tests, nil otherwise
}

// Open finds the repository of the work tree that holds dir, by way of the folder root; "" stands for dir. private is
// the folder that ferrus owns. Both are absolute. A folder outside git, or a machine without git, is no error; see
// [Repository.Git].
func Open(ctx context.Context, dir, private, root string) (*Repository, error) {
	r := &Repository{dir: dir, private: private}
	from := dir
	if root != "" {
		from = root
	}
	if err := r.discover(ctx, from); err != nil {
		return nil, err
	}
	if !r.Git() {
		return r, nil
	}
	return r, r.enter(dir, root)
}

// enter makes r the repository of the work tree that holds dir: a linked one that the repository lists, or that which
// was found. A folder other than a named root must be in a linked one: of a work tree that the repository no longer
// lists, the folder may lie in another.
func (r *Repository) enter(dir, root string) error {
	dir = git.Resolve(dir)
	all, err := r.around(dir)
	if err != nil {
		return err
	}
	_, within := git.Below(r.dir, dir)
	within = within || r.dir == dir
	found := false
	for _, a := range all {
		top := git.Resolve(a.dir)
		_, deeper := git.Below(r.dir, top)
		if _, ok := git.Below(top, dir); a.dir == "" || !ok && top != dir || within && !deeper {
			continue
		}
		r.dir, r.gitDir, r.index = top, a.path, filepath.Join(a.path, "index")
		within, found = true, true
	}
	if !within || root != "" && !found && dir != git.Resolve(root) {
		return fmt.Errorf("%s is in no work tree that the repository of %s lists; git worktree repair may find it", dir, r.dir)
	}
	return nil
}

// Git reports whether there is a git work tree and a git binary to ask.
func (r *Repository) Git() bool { return r.gitDir != "" }

// Top is the absolute path of the work tree's top level, links resolved; without git that of the folder given to
// [Open].
func (r *Repository) Top() string { return r.dir }

// Path is where the work tree has a path of git's.
func (r *Repository) Path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// Private is the folder that ferrus owns.
func (r *Repository) Private() string { return r.private }

// GitDir is the absolute path of the work tree's own git directory.
func (r *Repository) GitDir() string { return r.gitDir }

// CommonDir is the absolute path of the git directory that all work trees of the repository share.
func (r *Repository) CommonDir() string { return r.common }

// Objects is the absolute path of the repository's own object store.
func (r *Repository) Objects() string { return r.objects }

// IndexFile is the absolute path of the user's index.
func (r *Repository) IndexFile() string { return r.index }

// ConfigFiles are where the configuration of the repository and that of this work tree are.
func (r *Repository) ConfigFiles() [2]string { return configFiles(r.common, r.gitDir) }

// OnChange has step called before each change outside the private folder, nil for nothing. It is for tests that end the process
// there, or change something themselves.
func (r *Repository) OnChange(step func()) { r.step = step }

// Changing tells a test that something outside the private folder is about to change.
func (r *Repository) Changing() {
	if r.step != nil {
		r.step()
	}
}
