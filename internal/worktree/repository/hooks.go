package repository

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// commitHooks are the hooks that a commit runs, in their order.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "reference-transaction", "post-commit"}

// hookSettings are the files of a work tree by which a hook that lies elsewhere says what it runs.
var hookSettings = git.SetOf([]string{".pre-commit-config.yaml", ".overcommit.yml",
	"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json",
	"lefthook-local.yml", ".lefthook-local.yml", ".config/lefthook.yml", ".config/lefthook.yaml"})

// Hooks are the hooks that a commit would run.
type Hooks struct {
	Dir   string   // where git looks for them, an absolute path
	Names []string // of those that are there, such as pre-commit

	// Changed are files that decide what runs and were changed by the work, or since it began: the person looks at them and commits by hand. Those
	// in the work tree are relative to its top level.
	Changed []string
}

// CommitHooks finds the hooks of a commit, by the person's configuration and that of the repository. changed are the paths at which the files
// to be committed differ from HEAD, or from what the work began with; tree is what is to be committed, and began the time at which the work
// began. A hook that git does not track counts as changed if it, or a folder through which it is reached, has changed since: nobody but the
// administrator can set that time.
func (r *Repository) CommitHooks(ctx context.Context, changed git.Set, tree string, began time.Time) (h Hooks, err error) {
	if err := git.Needs(ctx, 2, 36, "to run hooks"); err != nil {
		return h, err
	}
	said := &git.Head{}
	out, err := git.Command{Dir: r.dir}.Own(ctx, said, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-path", "hooks")
	if err != nil {
		return h, err
	}
	found, dir, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if git.Resolve(filepath.FromSlash(found)) != git.Resolve(r.gitDir) {
		return h, fmt.Errorf("git takes %s for the repository of %s, which was %s", found, r.dir, r.gitDir)
	}
	h.Dir = filepath.FromSlash(dir)
	all := git.Set{}
	for _, name := range commitHooks {
		path := filepath.Join(h.Dir, name)
		if !filestat.Exists(path) {
			continue
		}
		h.Names = append(h.Names, name)
		for _, at := range []string{path, git.Resolve(path)} { // a link, and what it leads to
			for _, file := range r.hookChanged(ctx, at, changed, tree, began) {
				all.Add(file)
			}
		}
	}
	for path := range changed {
		if len(h.Names) > 0 && hookSettings[path] {
			all.Add(path)
		}
	}
	h.Changed = git.Sorted(all)
	return h, nil
}

// hookChanged lists the files for which the hook at a path counts as changed.
func (r *Repository) hookChanged(ctx context.Context, path string, changed git.Set, tree string, began time.Time) (files []string) {
	name, inside := below(r.dir, path)
	if _, ofGit := below(r.common, path); ofGit || strings.HasPrefix(name, ".git/") {
		inside = false
	}
	if !inside {
		for _, at := range []string{path, filepath.Dir(path)} {
			if touched(at, began) {
				return []string{path}
			}
		}
		return nil
	}
	folder, _, deeper := strings.Cut(name, "/") // .husky/_/pre-commit runs .husky/pre-commit
	for p := range changed {
		if p == name || deeper && strings.HasPrefix(p, folder+"/") {
			files = append(files, p)
		}
	}
	if r.has(ctx, tree, name) {
		return files // it is the file of the tree, which is in HEAD too if it is not among the changed
	}
	for at := path; at != r.dir && at != filepath.Dir(at); at = filepath.Dir(at) {
		if touched(at, began) {
			return append(files, name)
		}
	}
	return files
}

// below is a path relative to a folder, with slashes, and whether it lies there. No link is resolved.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return filepath.ToSlash(rel), err == nil && rel != "." && filepath.IsLocal(rel)
}

// touched reports whether what is at a path was changed, moved or made at that time or later, or cannot be told.
func touched(path string, began time.Time) bool {
	is, err := filestat.Lstat(path)
	return err != nil || is.Ctime >= began.UnixNano()
}

// has reports whether a tree has a file at a path.
func (r *Repository) has(ctx context.Context, tree, name string) bool {
	out, _, err := r.Command().Run(ctx, "ls-tree", "-z", "--full-tree", "--name-only", tree, "--", name)
	return err == nil && strings.TrimSuffix(string(out), "\x00") == name
}
