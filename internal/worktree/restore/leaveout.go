package restore

import (
	"context"
	"path"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// LeaveOut returns a tree without the paths that the tree than does not have, "" for the empty one, and that do not count by the
// rules of the tree itself or by the patterns given to [worktree.Open], and which these are. Paths that are tracked stay. What is
// made is in the private store.
func (t *WorkTree) LeaveOut(ctx context.Context, tree, than string, tracked []string) (without string, out []string, err error) {
	if than, err = t.TreeID(than); err != nil {
		return "", nil, err
	}
	deltas, err := t.Deltas(ctx, than, tree)
	if err != nil {
		return "", nil, err
	}
	stays := git.SetOf(tracked)
	fresh := git.Set{}
	for _, d := range deltas {
		if !d.Old.Exists() && d.New.Exists() && !stays[d.Path] && path.Base(d.Path) != ".gitignore" {
			fresh.Add(d.Path)
		}
	}
	if len(fresh) == 0 {
		return tree, nil, nil
	}
	s, err := t.newStage(ctx, tree)
	if err != nil {
		return "", nil, err
	}
	defer s.discard()
	ignored, err := s.ignored(ctx, git.Sorted(fresh), &plan{})
	if err != nil {
		return "", nil, err
	}
	never, err := t.LeftOut(ctx, s.git())
	if err != nil {
		return "", nil, err
	}
	names := git.Set{}
	for _, name := range append(ignored, never...) {
		if fresh[name] {
			names.Add(name)
		}
	}
	if len(names) == 0 {
		return tree, nil, nil
	}
	c := s.git()
	c.Stdin = git.List(git.Sorted(names))
	if _, _, err := c.Run(ctx, "update-index", "-z", "--force-remove", "--stdin"); err != nil {
		return "", nil, err
	}
	c.Stdin = nil
	id, _, err := c.Run(ctx, "write-tree")
	return strings.TrimSpace(string(id)), git.Sorted(names), err
}
