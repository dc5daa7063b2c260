package restore

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

const (
	inTheWay = "is in the way, and in no snapshot: git ignores it, or it has changed since; move it away or take another snapshot, then try again"
	embedded = "is in the way, in a repository of its own; move that away, then try again"
)

// A BlockedError says why a tree cannot be restored. Nothing has been changed.
type BlockedError struct {
	Path string // relative to the top level, with slashes
	Why  string // what is the matter with it, and what to do
}

func (e *BlockedError) Error() string { return git.Printable(e.Path) + " " + e.Why }

// Refusal returns what the error is to who asked for the restore.
func (e *BlockedError) Refusal() *refusal.RefusedError { return inPlace.Refusal() }

// inPlace are the errors that a person sees to in the work tree.
var inPlace = &refusal.Kind{Code: refusal.TreeChanged, Remedy: "check that file, then try again", Person: true}

// clash says what of the disk, in no snapshot, stands where the plan would write. What would come to be inside an
// embedded repository leaves the plan.
func (t *WorkTree) clash(p *plan, s *stage) error {
	for _, name := range git.Sorted(p.write) {
		free, repo, err := t.clashAbove(p, name)
		switch {
		case err != nil:
			return err
		case repo != "":
			p.left.Add(repo)
			delete(p.write, name)
		case !free:
			if err := t.clashAt(p, s, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// clashAbove looks at the folders that lead to a path, from the top: whether one is yet to be made, so that the place is
// free, and which one is a repository of its own.
func (t *WorkTree) clashAbove(p *plan, name string) (free bool, repo string, err error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		dir := name[:i]
		info, err := os.Lstat(t.Path(dir))
		switch {
		case errors.Is(err, fs.ErrNotExist), p.remove[dir]:
			return true, "", nil
		case err != nil:
			return false, "", err
		case !info.IsDir():
			return false, "", &BlockedError{dir, inTheWay}
		case filestat.Exists(filepath.Join(t.Path(dir), ".git")):
			return false, dir, nil
		}
	}
	return false, "", nil
}

// clashAt looks at the place of the file itself.
func (t *WorkTree) clashAt(p *plan, s *stage, name string) error {
	info, err := os.Lstat(t.Path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return t.clashBelow(p, name)
	case p.held[name], same(s.path(name), t.Path(name)):
		return nil
	}
	return &BlockedError{name, inTheWay}
}

// clashBelow looks at a folder where a file is to be: all that is in it must be removed by the plan.
func (t *WorkTree) clashBelow(p *plan, dir string) error {
	inside, err := os.ReadDir(t.Path(dir))
	if err != nil {
		return err
	}
	for _, e := range inside {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git":
			return &BlockedError{dir, embedded}
		case e.IsDir():
			if err := t.clashBelow(p, name); err != nil {
				return err
			}
		case !p.remove[name]:
			return &BlockedError{name, inTheWay}
		}
	}
	return nil
}
