// Package worktree says which tree a work tree holds now, what changed between two trees, and what two of them give when
// merged. It reads the files and changes none of them.
//
// A Tree embeds its repository: package [repository] keeps trees there, and makes linked work trees. Package restore, above this
// one, replaces the files by those of another tree; package checkout lays a tree out in another folder.
//
// It knows no task and no state, and commits nothing to a branch. A folder without git, or a machine without git, is a
// Tree too: its fingerprint is "", its diff texts say that there is none, and what writes is refused with [git.ErrNoGit].
//
// Start reading at worktree.go.
package worktree

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A Tree is one git work tree, or a plain folder. It may be used by several goroutines and several processes at once.
type Tree struct {
	*repository.Repository

	state   string   // for the stat table, outside of the repository; "" for the private folder
	exclude []string // gitignore patterns that never count; the last match wins
	ignore  []string // those of them that the caller of Open named
	left    []string // .ferrus and the private folder, relative to the top level, which exclude names as well
	copied  []string // files that were copied into the work tree, which exclude names as well; see RecordCopied

	settings [2]foundFile // the repository's configuration, and that of this work tree

	mu      sync.Mutex
	looks   func() time.Time // the time at which files are read; for tests, time.Now where nil
	table   *table           // what this Tree knew last; nil at first
	tableAt fs.FileInfo      // of the file that the table was read from or written to
	unsaved int              // files in the table that its file has not
	newest  *listing         // of the newest fingerprint
}

// Options are what [Open] must know beside the folder.
type Options struct {
	// Root is a folder of the main side: the project that has the control files. Its repository is the only one that is
	// asked anything. A dir in a linked work tree is found through the list that this repository keeps, never through
	// the .git file in dir, which an agent there can replace. "" stands for dir.
	Root string

	// State is a folder outside of the repository where the stat table is stored; "" stands for private. It exists.
	State string

	// Ignore holds gitignore patterns, relative to the top level, of files that do not count even when tracked.
	Ignore []string
}

// Open finds the work tree that holds dir. private is a folder that ferrus owns, made when first needed; the private
// git directory, indexes and object store live there. private itself never counts, nor does .ferrus in dir: the
// project's own. A .ferrus elsewhere is a file like any other.
//
// A folder outside git, inside a bare repository, or on a machine without git is no error; see [repository.Repository.Git]. A
// repository that git refuses to read, such as one of another owner, is.
func Open(ctx context.Context, dir, private string, o Options) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if private, err = filepath.Abs(private); err != nil {
		return nil, err
	}
	r, err := repository.Open(ctx, dir, private, o.Root)
	if err != nil {
		return nil, err
	}
	t := &Tree{Repository: r, state: o.State}
	if !t.Git() {
		return t, nil
	}
	for i, file := range t.ConfigFiles() {
		t.settings[i] = find(file)
	}
	for _, glob := range o.Ignore {
		if glob = strings.TrimSpace(glob); glob != "" {
			t.ignore = append(t.ignore, glob)
		}
	}
	t.exclude = slices.Clone(t.ignore)
	for _, path := range []string{private, filepath.Join(dir, ".ferrus")} {
		if rel, ok := git.Below(t.Top(), path); ok {
			t.exclude = append(t.exclude, "/"+git.EscapeGlob(rel))
			t.left = append(t.left, rel)
		}
	}
	return t, t.readCopied()
}

// Current reports whether the repository's configuration is still the one that [Open] went by. Where it is not, the Tree is
// to be opened again: the repository may be gone, or say that its files are elsewhere. Without git it is.
func (t *Tree) Current() bool { return t.settings[0].Unchanged() && t.settings[1].Unchanged() }

// clock is the time that decides whether a file may be known again by its identity.
func (t *Tree) clock() time.Time {
	if t.looks != nil {
		return t.looks()
	}
	return time.Now()
}

// CommonDir is the absolute path of the git directory that all work trees of dir's repository share, "" when dir is
// not in a work tree or there is no git.
func CommonDir(ctx context.Context, dir string) (string, error) {
	at, err := repository.Locate(ctx, dir)
	return at.Common, err
}

// Main is the top level of the repository's main work tree when dir is in a linked one, else the top level of dir's
// own work tree. A linked work tree of a bare repository has no main one and is answered with itself. It is "" when
// dir is not in a work tree or there is no git.
func Main(ctx context.Context, dir string) (string, error) {
	at, err := repository.Locate(ctx, dir)
	if err != nil || at.GitDir == at.Common {
		return at.Top, err
	}
	// So does git worktree list find it; but that fails while another process makes a work tree.
	if filepath.Base(at.Common) != ".git" { // a bare repository, or a submodule
		return at.Top, nil
	}
	return filepath.Dir(at.Common), nil
}
