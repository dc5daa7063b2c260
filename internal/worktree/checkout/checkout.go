// Package checkout lays out the files of a tree in a folder of their own, where checks run: exactly those, and what a set-up
// made, whatever was left there before. The folder is outside of every work tree and kept for the next time.
//
// It also finds the ignored files that .worktreeinclude of a project names, and copies them into new work trees (include.go). Neither
// the patterns nor the files are believed: a clone brings the patterns, and an agent that works in the project's own folder can change
// both. Only git matches, by the patterns and by the rules of what it ignores. A copy follows no link, and enters no other repository.
//
// Which files a person has agreed to is the matter of project/agreement. Start reading at checkout.go.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// ErrInUse says that another process has the checkout.
var ErrInUse error = &refusal.Kind{Code: refusal.LockBusy, Text: "another process uses this checkout; try again when it is done",
	Remedy: "try again when the other process is done"}

// A Checkout is a folder outside of every work tree that holds exactly the files of a tree, and what was put there on
// purpose, whenever [Checkout.Prepare] returns. Whatever ran in it before may have left anything in it, so nothing about its
// state is believed: a Checkout remembers in memory which identity (inode, size, mode, mtime and ctime) each file had when
// its content was last compared with git's id, and compares the content of every other. There is no file to forge, and a
// process that was killed leaves nothing that counts.
//
// Within its folder: files/ is the checkout, made/ the private copy of what the set-up made, made.list its digests, and
// lock is held from Prepare to Release. A Checkout is used by one goroutine at a time.
type Checkout struct {
	dir  string
	lock *filelock.Lock

	tree   string // the tree of want
	want   *repository.Listing
	made   *manifest
	known  map[string]known // by path below files/
	honest bool             // the file system moves the change time of a file whenever its content or mode changes
	newest int64            // the newest time of a file in known
	mu     sync.Mutex       // guards known and newest while several compare

	step  func() error // called before each change; for tests, nil otherwise
	force *bool        // honest, whatever the file system; for tests, nil otherwise
}

// known is a file that had this content when it had this identity.
type known struct {
	identity filestat.Stat
	content  string // git's mode and id, or the digest of what the set-up made
	raw      string // of a file that a filter made: its own mode and id
}

// A Layout says what a checkout is to hold.
type Layout struct {
	Tree   string // the id of the tracked files
	Within string // a folder that exists in any case, relative to the top, with slashes; "" or "." for none

	// SetUp makes what the tracked files need beside them, such as installed packages, in the folder dir, which holds the
	// files of Base. It runs once for each Key; what it made is saved beside the checkout, and comes back from there. Nil:
	// there is none.
	SetUp func(ctx context.Context, dir string) error
	Base  string
	Key   string

	// Copies are ignored files, by their paths from the top, which Copy copies into dir before the set-up and before the checks. Those at
	// paths that the tree has are left out. They are copied anew each time, and never with what the set-up made.
	Copies []string
	Copy   func(dir string, names []string) error
}

// New returns the checkout in dir, of which nothing is read or made yet.
func New(dir string) *Checkout {
	return &Checkout{dir: dir, known: map[string]known{}}
}

// Files is the folder of the files: the top of the laid out repository.
func (c *Checkout) Files() string { return filepath.Join(c.dir, "files") }

// Prepare takes the checkout, until [Checkout.Release], and makes its files those of l.Tree, of what the set-up made, and of
// those that t leaves out of its trees (see [worktree.Options]), as they stand in t's work tree. A file of the tree comes before one
// of the others. Everything else is removed. The objects are compared with their ids: one that somebody replaced in a store
// is an error. The error is [ErrInUse] while another process has it, [git.ErrNoGit] without git; then nothing was changed.
func (c *Checkout) Prepare(ctx context.Context, t *worktree.Tree, l Layout) (err error) {
	if !t.Git() {
		return git.ErrNoGit
	}
	if err := c.take(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.Release()
			err = fmt.Errorf("lay out %.12s in %s: %w", l.Tree, c.dir, err)
		}
	}()
	if err := t.Prepare(ctx); err != nil {
		return err
	}
	for range 2 { // once more where what the set-up made is damaged
		if err = c.setUp(ctx, t, l); err != nil {
			return err
		}
		err = c.writeFiles(ctx, t, l.Tree, l.Within)
		if !errors.Is(err, errMade) {
			break
		}
		c.made = nil
		if err := c.at(); err != nil {
			return err
		}
		if err := os.Remove(c.madeList()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err == nil {
		err = c.copyIgnored(ctx, t)
	}
	if err == nil {
		err = c.copyAgreed(l)
	}
	if err == nil {
		err = c.settle()
	}
	return err
}

// Release lets another process have the checkout. The files stay.
func (c *Checkout) Release() {
	if c.lock != nil {
		c.lock.Close()
		c.lock = nil
	}
}

// take makes the folder and takes its lock. A folder in a work tree is refused: an agent there could write in it, and
// git would take it for a part of that.
func (c *Checkout) take() error {
	if err := Outside(c.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	lock, err := filelock.Take(filepath.Join(c.dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(c.dir, "lock")); err != nil { // removed by who had it
		lock.Close()
		return ErrInUse
	}
	c.lock = lock
	info, err := os.Lstat(c.Files())
	if err == nil && !info.IsDir() {
		err = os.Remove(c.Files())
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(c.Files(), 0o700)
	}
	if err != nil {
		c.Release()
		return err
	}
	if c.honest = filestat.Dated(c.dir); c.force != nil {
		c.honest = *c.force
	}
	return nil
}

// writeFiles makes the files those of a tree and of what the set-up made.
func (c *Checkout) writeFiles(ctx context.Context, t *worktree.Tree, tree, within string) error {
	if c.want == nil || c.tree != tree {
		want, err := t.ListVerified(ctx, tree)
		if err != nil {
			return err
		}
		if c.want != nil && !c.want.SameAttributes(want) {
			c.known = map[string]known{} // what a filter makes of a file may be another now
		}
		c.tree, c.want = tree, want
	}
	root, err := os.OpenRoot(c.Files())
	if err != nil {
		return err
	}
	defer root.Close()
	plan := c.planned(within)
	if err := c.prune(root, plan); err != nil {
		return err
	}
	var missing []string
	for _, e := range c.want.Entries {
		if !e.IsLink() && !plan.there[e.Path] {
			missing = append(missing, e.Path)
		}
	}
	if err := c.checkOut(ctx, t, root, missing); err != nil {
		return err
	}
	for _, dir := range plan.sortedDirs() {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return err
		}
	}
	return c.copyMade(root, plan)
}

// A checkoutPlan is what a checkout is to hold, by path.
type checkoutPlan struct {
	dirs  git.Set            // folders
	made  map[string]madeRow // what the set-up made and no file of the tree is in the way of
	there git.Set            // files that are there already, as they are to be
}

func (p *checkoutPlan) sortedDirs() []string {
	dirs := make([]string, 0, len(p.dirs))
	for dir := range p.dirs {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

// planned lays what the set-up made below what the tree holds.
func (c *Checkout) planned(within string) *checkoutPlan {
	p := &checkoutPlan{dirs: git.Set{}, made: map[string]madeRow{}, there: git.Set{}}
	above := func(name string) {
		for dir := path.Dir(name); dir != "." && !p.dirs[dir]; dir = path.Dir(dir) {
			p.dirs.Add(dir)
		}
	}
	for _, e := range c.want.Entries {
		above(e.Path)
		if e.IsLink() {
			p.dirs.Add(e.Path)
		}
	}
	free := func(name string) bool { // no file of the tree stands at the path, or where it needs a folder
		for at := name; at != "."; at = path.Dir(at) {
			if e, ok := c.want.At[at]; ok && !e.IsLink() {
				return false
			}
		}
		return true
	}
	if c.made != nil {
		for _, r := range c.made.rows {
			if !free(r.path) || p.dirs[r.path] && !r.dir() {
				continue
			}
			above(r.path)
			if r.dir() {
				p.dirs.Add(r.path)
			} else {
				p.made[r.path] = r
			}
		}
	}
	if within = path.Clean(filepath.ToSlash(within)); within != "." && free(within) {
		above(within)
		p.dirs.Add(within)
	}
	return p
}

// prune removes all that the plan has not, and notes what is there as it should be.
func (c *Checkout) prune(root *os.Root, p *checkoutPlan) error {
	var compare []string
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := os.ReadDir(filepath.Join(c.Files(), filepath.FromSlash(dir)))
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			_, tracked := c.want.At[name]
			_, made := p.made[name]
			switch {
			case e.IsDir() && p.dirs[name]:
				if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o755 {
					if err := root.Chmod(filepath.FromSlash(name), 0o755); err != nil {
						return err
					}
				}
				if err := walk(name); err != nil {
					return err
				}
			case !e.IsDir() && !p.dirs[name] && (tracked || made):
				compare = append(compare, name)
			default:
				if err := c.removeAll(root, name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk("."); err != nil {
		return err
	}
	var mu sync.Mutex
	return git.Each(compare, func(name string) error {
		content := p.content(c, name)
		if !c.holds(name, content) {
			return c.removeAll(root, name)
		}
		mu.Lock()
		defer mu.Unlock()
		p.there.Add(name)
		return nil
	})
}

// content names what the plan has at a path.
func (p *checkoutPlan) content(c *Checkout, name string) string {
	if r, ok := p.made[name]; ok {
		return r.content()
	}
	return c.want.At[name].Content()
}

func (c *Checkout) at() error {
	if c.step == nil {
		return nil
	}
	return c.step()
}

// removeAll removes a path with what is below it. Folders that may not be entered are opened first.
func (c *Checkout) removeAll(root *os.Root, name string) error {
	if err := c.at(); err != nil {
		return err
	}
	name = filepath.FromSlash(name)
	if err := root.RemoveAll(name); err == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), filepath.ToSlash(name), func(at string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = root.Chmod(filepath.FromSlash(at), 0o700)
		}
		return nil
	})
	return root.RemoveAll(name)
}
