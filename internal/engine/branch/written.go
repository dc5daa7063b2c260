package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// leaveOut takes out of a merged tree what the branch has added and the rules of the tree ignore. Such a file is work only by mistake: it
// was approved, because checks wrote it, before somebody named it in the project's .gitignore.
func (m *merging) leaveOut(ctx context.Context, tree string) (string, error) {
	without, out, err := m.counting(ctx, m.into, tree, m.ours)
	m.ignored = git.Listed(out)
	return without, err
}

// counting is [restore.WorkTree.LeaveOut] in a work tree whose store has the tree. What git tracks on the branch stays.
func (m *merging) counting(ctx context.Context, in *worktree.Tree, tree, than string) (without string, out []string, err error) {
	tracked, err := m.work.TrackedPaths(ctx)
	if err == nil {
		without, out, err = restore.In(in).LeaveOut(ctx, tree, than, tracked)
	}
	if err != nil {
		return "", nil, refusal.Git(err)
	}
	return without, out, nil
}

// triedTree returns what counts of the tree that is tried in the branch's work tree, and its paths that do not; "" where none is.
func (m *merging) triedTree(ctx context.Context) (tree string, ignored []string, err error) {
	whole, err := m.work.ReadRef(ctx, m.mark())
	if err != nil {
		return "", nil, refusal.Git(err)
	}
	if whole == "" {
		return "", nil, nil
	}
	return m.counting(ctx, m.work, whole, "")
}

// clear removes what is ignored of the tree that is tried in the branch's work tree: it is where approved files are put back to, and
// whatever is in it was written by the checks.
func (m *merging) clear(ctx context.Context) error {
	_, ignored, err := m.triedTree(ctx)
	if err != nil || len(ignored) == 0 {
		return err
	}
	top, err := os.OpenRoot(m.work.Top())
	if err != nil {
		return refusal.Folder(err)
	}
	defer top.Close()
	for _, name := range ignored {
		if err := top.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refusal.Folder(err)
		}
	}
	return nil
}

// written is why a merge is refused during whose checks files changed.
func (m *merging) written(ctx context.Context, from, to string) error {
	e, name := m.from.Engine(), m.from.Engine().Place().Branch
	wrote, err := checkrun.WrittenSince(ctx, m.work, from, to, nil)
	if err != nil {
		return refusal.Git(err)
	}
	remedy := wrote.Remedy("", checkrun.TheChecks, ".gitignore of the project")
	if remedy != "" {
		remedy += "\nthen run: ferrus merge " + name + "\n"
	}
	return &refusal.RefusedError{Code: refusal.TreeChanged, Person: true,
		Message: "while the checks ran on the merged result, they or somebody changed files of " + name + ": " +
			format.OneLine(strings.Join(e.Changed(ctx, m.was, from, to), " "), 600),
		Remedy: refusal.Say("%sthe files are saved as refs/ferrus/%s*", remedy, refOf(e, m.was.Task.TaskID, fmt.Sprint(m.was.Task.Seq)))}
}
