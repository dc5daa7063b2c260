package restore

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A stage is where the files of a tree are made before any of them comes into the work tree.
type stage struct {
	t    *WorkTree
	tree string
	dir  string // below private: index, files/, rules/, and what a move adds
	lock *filelock.Lock

	unsettled bool // a move has left something there that is nowhere else
}

// newStage makes one with the tree in its index and no files yet. Git refuses a tree with paths that lead outside.
func (t *WorkTree) newStage(ctx context.Context, tree string) (*stage, error) {
	dir, err := t.TempDir(moving + "*")
	if err != nil {
		return nil, err
	}
	s := &stage{t: t, tree: tree, dir: dir}
	s.lock, err = lockMove(dir)
	for _, sub := range []string{"files", "rules"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, sub), 0o700)
		}
	}
	if err == nil {
		_, _, err = s.git().Run(ctx, "read-tree", tree)
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// discard removes the stage, unless a move has left something in it.
func (s *stage) discard() {
	if !s.unsettled {
		s.t.RemoveTemp(s.dir)
	}
	if s.lock != nil {
		s.lock.Close()
	}
}

// git is a call on the stage's index.
func (s *stage) git() git.Command {
	c := s.t.Filtering(s.t.Command())
	c.Env = append(c.Env, "GIT_INDEX_FILE="+filepath.Join(s.dir, "index"))
	return c
}

// in is a call on the stage's index with one of the stage's folders for a work tree: git reads attributes and rules
// there, and attributes that it does not find in the index.
func (s *stage) in(sub string) git.Command {
	c := s.git()
	c.Dir = filepath.Join(s.dir, sub)
	c.Env = append(c.Env, "GIT_WORK_TREE="+c.Dir)
	return c
}

// path is where a staged file is.
func (s *stage) path(name string) string {
	return filepath.Join(s.dir, "files", filepath.FromSlash(name))
}

// checkOut makes the files. A filter that fails is an error.
func (s *stage) checkOut(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	c := s.in("files")
	c.Stdin = git.List(names)
	_, said, err := c.Run(ctx, "checkout-index", "-z", "--stdin")
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := os.Lstat(s.path(name)); err != nil {
			return fmt.Errorf("git checkout-index made no %s: %s", git.Printable(name), git.FirstLine(said))
		}
	}
	return nil
}

// sync brings the bytes of the files to disk. A link has none.
func (s *stage) sync(names []string) error {
	return git.Each(names, func(name string) error {
		info, err := os.Lstat(s.path(name))
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		return repository.SyncFile(s.path(name))
	})
}

// ignored lists which of the paths git will ignore once the plan is carried out. They are in none of the ignore files
// that the plan leaves to the tree; those in folders above them are laid out as they will be, and git asked.
func (s *stage) ignored(ctx context.Context, names []string, p *plan) ([]string, error) {
	if err := s.layRules(ctx, names, p); err != nil {
		return nil, err
	}
	// An ignore file that stays, because it is ignored, has a say about what is beside and below it: those above first.
	var ignored, others []string
	depths := map[int][]string{}
	for _, name := range names {
		if path.Base(name) == ".gitignore" {
			depths[strings.Count(name, "/")] = append(depths[strings.Count(name, "/")], name)
		} else {
			others = append(others, name)
		}
	}
	for depth := 0; len(depths) > 0; depth++ {
		for _, name := range depths[depth] {
			if err := s.layRule(name); err != nil {
				return nil, err
			}
		}
		out, err := s.askRules(ctx, depths[depth])
		if err != nil {
			return nil, err
		}
		for _, name := range depths[depth] {
			if !slices.Contains(out, name) {
				os.Remove(s.rule(name))
			}
		}
		ignored = append(ignored, out...)
		delete(depths, depth)
	}
	out, err := s.askRules(ctx, others)
	return append(ignored, out...), err
}

// rule is where an ignore file is laid out.
func (s *stage) rule(name string) string {
	return filepath.Join(s.dir, "rules", filepath.FromSlash(name))
}

// layRules lays out the tree's ignore files, and those on disk that stay there because neither tree has them.
func (s *stage) layRules(ctx context.Context, names []string, p *plan) error {
	out, _, err := s.git().Run(ctx, "ls-files", "-z", "--", ":(top,glob)**/.gitignore")
	if err != nil {
		return err
	}
	c := s.in("rules")
	c.Stdin = bytes.NewReader(out)
	if _, _, err := c.Run(ctx, "checkout-index", "-z", "--stdin"); err != nil {
		return err
	}
	seen := git.Set{}
	for _, name := range names {
		for dir := path.Dir(name); !seen[dir]; dir = path.Dir(dir) {
			seen.Add(dir)
			rule := path.Join(dir, ".gitignore")
			if p.remove[rule] || filestat.Exists(s.rule(rule)) || !s.t.OnDisk(rule) {
				continue
			}
			if err := s.layRule(rule); err != nil {
				return err
			}
		}
	}
	return nil
}

// layRule lays out an ignore file of the work tree. Git does not follow one that is a link.
func (s *stage) layRule(name string) error {
	if err := os.MkdirAll(filepath.Dir(s.rule(name)), 0o700); err != nil {
		return err
	}
	return copyFile(s.t.Path(name), s.rule(name))
}

// askRules lists which of the paths the rules that are laid out ignore.
func (s *stage) askRules(ctx context.Context, names []string) ([]string, error) {
	return s.t.ignored(ctx, s.in("rules"), filepath.Join(s.dir, "asked"), names)
}

// same reports whether two files are alike in kind, executable bit and bytes.
func same(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	if err != nil || x.Mode().Type() != y.Mode().Type() {
		return false
	}
	if x.Mode()&fs.ModeSymlink != 0 {
		l, err1 := os.Readlink(a)
		m, err2 := os.Readlink(b)
		return err1 == nil && err2 == nil && l == m
	}
	if !x.Mode().IsRegular() || x.Size() != y.Size() || (x.Mode()^y.Mode())&0o100 != 0 {
		return false
	}
	l, err1 := os.ReadFile(a)
	m, err2 := os.ReadFile(b)
	return err1 == nil && err2 == nil && bytes.Equal(l, m)
}

// ignored lists which of the paths the rules ignore that c finds in its work tree, with no regard to what is tracked.
// index is a file that is not there.
func (t *WorkTree) ignored(ctx context.Context, c git.Command, index string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	// As entries of an index, for git then answers for each path alike, whether there is such a file or not, and whatever
	// leads to it.
	c.Env = append(slices.Clone(c.Env), "GIT_INDEX_FILE="+index)
	var entries strings.Builder
	some := t.ID("blob", nil)
	for _, name := range names {
		fmt.Fprintf(&entries, "100644 %s\t%s\x00", some, name)
	}
	c.Stdin = strings.NewReader(entries.String())
	if _, _, err := c.Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	defer os.Remove(index)
	c.Stdin = nil
	out, _, err := c.Run(ctx, "ls-files", "-z", "-c", "-i", "--exclude-standard")
	return git.Split(out), err
}
