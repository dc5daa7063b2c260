package repository

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A Location is where git has the repository of a folder, as absolute paths; all are empty where there is no work tree, or no git.
type Location struct {
	Top    string // the top level of the work tree that holds the folder
	GitDir string // the git directory of that work tree
	Common string // the git directory that all work trees of the repository share
}

// Locate finds the repository of a folder. For the top level of a work tree git is asked once in the life of a process, while its answer
// cannot have changed.
func Locate(ctx context.Context, dir string) (Location, error) {
	paths, err := known.paths(ctx, dir)
	if errors.Is(err, git.ErrNoGit) {
		return Location{}, nil
	}
	if err != nil {
		return Location{}, err
	}
	return Location{paths[0], paths[1], paths[2]}, nil
}

// discover finds the repository of a folder; where there is none, it leaves r as it is.
func (r *Repository) discover(ctx context.Context, root string) error {
	paths, err := known.paths(ctx, root)
	if errors.Is(err, git.ErrNoGit) {
		return nil
	}
	if err != nil {
		return err
	}
	if top := git.Resolve(root); top != paths[0] {
		if _, ok := git.Below(paths[0], top); !ok {
			return fmt.Errorf("the repository of %s says that its files are in %s; run git -C %s config --unset core.worktree", root, paths[0], git.ShellQuoted(root))
		}
	}
	r.dir, r.gitDir, r.common, r.objects, r.index = paths[0], paths[1], paths[2], paths[3], paths[4]
	r.nothing = strings.Repeat("0", 40)
	if paths[5] == "sha256" {
		r.nothing = strings.Repeat("0", 64)
	}
	return nil
}

// A discovered repository is what git has said of a folder that is the top of a work tree, with what that depends on.
type discovered struct {
	mu     sync.Mutex  // held while git is asked: those who want to know the same at once ask once
	paths  []string    // nil before
	git    os.FileInfo // of .git there
	config [2]fileNow  // of the repository, and of that work tree
}

// A fileNow is a file as it is at a moment: err says that there is none.
type fileNow struct {
	filestat.Stat
	err error
}

func lookAt(path string) (f fileNow) {
	f.Stat, f.err = filestat.Lstat(path)
	return f
}

// known are the repositories of this process: an overview asks for that of a project once for each branch.
var known = discoveries{ask: askGit}

// maxKnown bounds them.
const maxKnown = 256

type discoveries struct {
	ask func(ctx context.Context, root string) ([]string, error)
	mu  sync.Mutex
	all map[string]*discovered // by folder
}

// of is what is known of a folder.
func (k *discoveries) of(root string) *discovered {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= maxKnown {
		k.all = map[string]*discovered{}
	}
	if k.all[root] == nil {
		k.all[root] = &discovered{}
	}
	return k.all[root]
}

func askGit(ctx context.Context, root string) ([]string, error) {
	return git.RevParse(ctx, root, "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "objects", "--git-path", "index", "--show-object-format")
}

// paths asks git where the repository of a folder is, or takes what it has said before if .git and the configuration are the same since. Git
// writes a configuration as another file, so that each change shows, however soon it comes.
func (k *discoveries) paths(ctx context.Context, root string) ([]string, error) {
	d := k.of(root)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paths != nil && git.Missing(root) == nil && d.current(root) {
		return d.paths, nil
	}
	paths, err := k.ask(ctx, root)
	d.paths = nil
	if err != nil || paths[0] != root {
		return paths, err
	}
	for i, file := range configFiles(paths[2], paths[1]) {
		if d.config[i] = lookAt(file); d.config[i].err == nil && !d.config[i].Mode.IsRegular() {
			return paths, nil
		}
	}
	if d.git, err = os.Lstat(filepath.Join(root, ".git")); err != nil {
		return paths, nil
	}
	d.paths = paths
	return paths, nil
}

// current reports whether git would say the same of the folder now.
func (d *discovered) current(root string) bool {
	info, err := os.Lstat(filepath.Join(root, ".git"))
	if err != nil || !os.SameFile(info, d.git) || info.Mode() != d.git.Mode() || info.Mode().IsRegular() && info.ModTime() != d.git.ModTime() {
		return false
	}
	for i, file := range configFiles(d.paths[2], d.paths[1]) {
		if now := lookAt(file); (now.err == nil) != (d.config[i].err == nil) || now.err == nil && !now.Same(d.config[i].Stat) {
			return false
		}
	}
	return true
}

// configFiles are where the configuration of a repository and that of a work tree of it are.
func configFiles(common, gitDir string) [2]string {
	return [2]string{filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree")}
}
