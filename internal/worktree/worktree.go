// Package worktree is everything ferrus asks of git about a work tree: which tree it holds now, what changed between
// two of those trees, how to come back to one, what two of them give when merged, and where the repository lives.
//
// It runs the git binary. To ask, it writes only below a folder of its own. To keep a tree it adds objects and a ref
// under refs/ferrus/ to the user's repository, to work in parallel a linked work tree with a branch under
// refs/heads/ferrus/. The user's index, HEAD, stash, other refs and configuration are read, never changed.
//
// It knows no task and no state, and commits nothing to a branch. A folder without git, or a machine without git, is a
// Tree too: its fingerprint is "", its diff texts say that there is none, and what writes is refused with [ErrNoGit].
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// A Tree is one git work tree, or a plain folder. It may be used by several goroutines and several processes at once.
type Tree struct {
	dir     string   // the top level; without git the folder given to Open
	private string   // ours alone: indexes and objects
	state   string   // for the stat table, outside of the repository; "" for private
	exclude []string // gitignore patterns that never count; the last match wins
	ignore  []string // those of them that the caller of Open named
	left    []string // what the rest of exclude names: .ferrus and private, relative to dir

	// Empty without git. The git dir is named in every call: if it is deleted, git says so instead of finding another
	// repository further up.
	gitDir  string
	common  string // the git dir that all work trees of the repository share
	objects string // the repository's own object store
	index   string // the user's index
	nothing string // the id of no object

	settings [2]foundFile // the repository's configuration, and that of this work tree

	mu    sync.Mutex
	last  kept   // what this Tree kept last
	rules *rules // nil until first needed

	looks   func() time.Time // the time at which files are read; for tests, time.Now where nil
	table   *table           // what this Tree knew last; nil at first
	tableAt fs.FileInfo      // of the file that the table was read from or written to
	unsaved int              // files in the table that its file has not
	newest  *listing         // of the newest fingerprint

	step  func() // called before each change of a file outside private; for tests, nil otherwise
	hooks hooks  // for tests
}

// Options are what [Open] must know beside the folder.
type Options struct {
	// Root is a folder of the main side: the project that has the control files. Its repository is the only one that is
	// asked anything. A dir in a linked work tree is found through the list that this repository keeps, never through
	// the .git file in dir, which whoever works there can replace. "" stands for dir.
	Root string

	// State is a folder outside of the repository where the stat table is kept; "" stands for private. It exists.
	State string

	// Ignore holds gitignore patterns, relative to the top level, of files that do not count even when tracked.
	Ignore []string
}

// Open finds the work tree that holds dir. private is a folder that ferrus owns, made when first needed; the private
// git directory, indexes and object store live there. private itself never counts, nor does .ferrus in dir: the
// project's own. A .ferrus elsewhere is a file like any other.
//
// A folder outside git, inside a bare repository, or on a machine without git is no error; see [Tree.Git]. A
// repository that git refuses to read, such as one of another owner, is.
func Open(ctx context.Context, dir, private string, o Options) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if private, err = filepath.Abs(private); err != nil {
		return nil, err
	}
	t := &Tree{dir: dir, private: private, state: o.State}
	root := dir
	if o.Root != "" {
		root = o.Root
	}
	if err := t.discover(ctx, root); err != nil {
		return nil, err
	}
	if !t.Git() {
		return t, nil
	}
	if err := t.enter(dir, o.Root); err != nil {
		return nil, err
	}
	t.settings = [2]foundFile{find(filepath.Join(t.common, "config")), find(filepath.Join(t.gitDir, "config.worktree"))}
	for _, glob := range o.Ignore {
		if glob = strings.TrimSpace(glob); glob != "" {
			t.ignore = append(t.ignore, glob)
		}
	}
	t.exclude = slices.Clone(t.ignore)
	for _, path := range []string{private, filepath.Join(dir, ".ferrus")} {
		if rel, ok := git.Below(t.dir, path); ok {
			t.exclude = append(t.exclude, "/"+gitpath.EscapeGlob(rel))
			t.left = append(t.left, rel)
		}
	}
	return t, nil
}

// discover finds the repository of a folder; where there is none, it leaves t as it is.
func (t *Tree) discover(ctx context.Context, root string) error {
	paths, err := git.RevParse(ctx, root, "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "objects", "--git-path", "index", "--show-object-format")
	if errors.Is(err, git.ErrNoGit) {
		return nil
	}
	if err != nil {
		return err
	}
	if top := git.Resolve(root); top != paths[0] {
		if _, ok := git.Below(paths[0], top); !ok {
			return fmt.Errorf("the repository of %s says that its files are in %s; run git -C %s config --unset core.worktree", root, paths[0], gitpath.ShellQuoted(root))
		}
	}
	t.dir, t.gitDir, t.common, t.objects, t.index = paths[0], paths[1], paths[2], paths[3], paths[4]
	t.nothing = strings.Repeat("0", 40)
	if paths[5] == "sha256" {
		t.nothing = strings.Repeat("0", 64)
	}
	return nil
}

// enter makes t the work tree of the repository that holds dir: a linked one that the repository lists, or that which
// was found. A folder other than a named root must be in a linked one: of a work tree that the repository no longer
// lists, the folder may lie in another.
func (t *Tree) enter(dir, root string) error {
	dir = git.Resolve(dir)
	all, err := t.admins()
	if err != nil {
		return err
	}
	_, within := git.Below(t.dir, dir)
	within = within || t.dir == dir
	found := false
	for _, a := range all {
		top := git.Resolve(a.dir)
		_, deeper := git.Below(t.dir, top)
		if _, ok := git.Below(top, dir); a.dir == "" || !ok && top != dir || within && !deeper {
			continue
		}
		t.dir, t.gitDir, t.index = top, a.path, filepath.Join(a.path, "index")
		within, found = true, true
	}
	if !within || root != "" && !found && dir != git.Resolve(root) {
		return fmt.Errorf("%s is in no work tree that the repository of %s lists; git worktree repair may find it", dir, t.dir)
	}
	return nil
}

// Current reports whether the repository's configuration is still the one that [Open] went by. Where it is not, the Tree is
// to be opened again: the repository may be gone, or say that its files are elsewhere. Without git it is.
func (t *Tree) Current() bool { return t.settings[0].Unchanged() && t.settings[1].Unchanged() }

// clock is the time by which it is told whether a file may be known again by its identity.
func (t *Tree) clock() time.Time {
	if t.looks != nil {
		return t.looks()
	}
	return time.Now()
}

// Git reports whether there is a git work tree and a git binary to ask.
func (t *Tree) Git() bool { return t.gitDir != "" }

// Top is the absolute path of the work tree's top level, links resolved; without git that of the folder given to
// [Open].
func (t *Tree) Top() string { return t.dir }

// CommonDir is the absolute path of the git directory that all work trees of dir's repository share, "" when dir is
// not in a git repository or there is no git.
func CommonDir(ctx context.Context, dir string) (string, error) {
	paths, err := git.RevParse(ctx, dir, "--git-common-dir")
	if errors.Is(err, git.ErrNoGit) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// Main is the top level of the repository's main work tree when dir is in a linked one, else the top level of dir's
// own work tree. A linked work tree of a bare repository has no main one and is answered with itself. It is "" when
// dir is not in a work tree or there is no git.
func Main(ctx context.Context, dir string) (string, error) {
	top, err := toplevel(ctx, dir)
	if err != nil || top == "" {
		return "", err
	}
	paths, err := git.RevParse(ctx, top, "--absolute-git-dir", "--git-common-dir")
	if err != nil {
		return "", err
	}
	if paths[0] == paths[1] {
		return top, nil
	}
	// So does git worktree list find it; but that fails while another process makes a work tree.
	if filepath.Base(paths[1]) != ".git" { // a bare repository, or a submodule
		return top, nil
	}
	return filepath.Dir(paths[1]), nil
}

// toplevel is the work tree that holds dir, "" when there is none.
func toplevel(ctx context.Context, dir string) (string, error) {
	paths, err := git.RevParse(ctx, dir, "--show-toplevel")
	if errors.Is(err, git.ErrNoGit) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}
