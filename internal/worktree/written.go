package worktree

import (
	"context"
	"path"
	"slices"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// IgnoreLines returns the lines of a .gitignore at the top level by which git leaves paths out that were written in the work tree
// beside what tree has, and those that no line leaves out, because git tracks them. A folder in which there is nothing else is one
// line. Both are sorted, and nil without git.
func (t *Tree) IgnoreLines(ctx context.Context, tree string, written []string) (lines, tracked []string, err error) {
	if !t.Git() || len(written) == 0 {
		return nil, nil, nil
	}
	index, err := t.TrackedPaths(ctx)
	if err != nil {
		return nil, nil, err
	}
	inIndex := git.SetOf(index)
	var fresh []string
	for _, name := range written {
		if inIndex[name] {
			tracked = append(tracked, git.Printable(name))
		} else {
			fresh = append(fresh, name)
		}
	}
	had, _, err := t.Command().Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", tree)
	if err != nil {
		return nil, nil, err
	}
	made, shared := git.SetOf(fresh), map[string]bool{".": true} // folders with something else in them
	for _, name := range append(git.Split(had), index...) {
		if made[name] {
			continue
		}
		for dir := path.Dir(name); !shared[dir]; dir = path.Dir(dir) {
			shared[dir] = true
		}
	}
	for _, name := range fresh {
		line := name
		for dir := path.Dir(name); !shared[dir]; dir = path.Dir(dir) {
			line = dir + "/"
		}
		lines = append(lines, "/"+git.EscapeGlob(git.Printable(line)))
	}
	slices.Sort(tracked)
	slices.Sort(lines)
	return slices.Compact(lines), tracked, nil
}

// Lacks reports whether a tree has none of these paths. It asks about the first maxAsked of them.
func (t *Tree) Lacks(ctx context.Context, tree string, paths []string) (bool, error) {
	out, _, err := t.Command().Run(ctx, append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, paths[:min(len(paths), maxAsked)]...)...)
	return err == nil && len(out) == 0, err
}

// maxAsked is how many paths one command line asks about.
const maxAsked = 1000

// TrackedPaths lists what git tracks in the work tree, nil without git.
func (t *Tree) TrackedPaths(ctx context.Context) ([]string, error) {
	if !t.Git() {
		return nil, nil
	}
	out, _, err := t.UserCommand().Run(ctx, "ls-files", "-z")
	return git.Split(out), err
}
