package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// A StoppedError says why a Restore ended when some files were moved already. Nothing is lost. Called again with a new
// snapshot, it finishes.
type StoppedError struct {
	Path string // relative to the top level, with slashes
	Why  string
}

func (e *StoppedError) Error() string { return git.Printable(e.Path) + " " + e.Why }

// Refusal returns what the error is to who asked for the restore.
func (e *StoppedError) Refusal() *refusal.RefusedError { return inPlace.Refusal() }

const (
	stoppedKind   = "has become a folder, or no file at all, while files were moved; move it away if it is in the way, then run the same command again"
	stoppedFolder = "is no longer a folder of this work tree; move what has taken its place, then run the same command again"
	stoppedBusy   = "is replaced by another process again and again; let that finish, then run the same command again"
)

// A move carries out a plan. Each file of the plan is made in the folder files; a file that comes out of the work tree
// goes to one of the folders out-N, or takes the place of the one that replaces it. It stays there until it is known
// that its content is saved elsewhere, and that nobody can write to it any more.
type move struct {
	t       *WorkTree
	dir     string // the stage's: below private, with files/, out-N/, plan
	edits   string // the name under which edits are saved
	now     string // the tree that the work tree had
	files   []moved
	out     []*taken
	last    time.Time // when the youngest of out came out
	touched git.Set
}

// A moved file is one of the plan, and what it may hold without being an edit: what it had, and what it gets.
type moved struct {
	path    string
	was, to repository.Entry
}

// A taken file came out of the work tree.
type taken struct {
	moved
	at    string             // where it is
	holds repository.Entry   // what it held when it was looked at last
	safe  []repository.Entry // what it may hold besides: edits that are saved, and what filters make the same
	edit  Edit               // with a Path if it was edited
	gone  bool               // it was removed
	open  bool               // it stays: a process has it open for writing
}

// replace puts the staged file at its path, and keeps what comes out.
func (m *move) replace(f moved) error {
	target, err := m.t.placeFor(f.path, true)
	if errors.Is(err, errAway) {
		return &StoppedError{f.path, stoppedFolder}
	}
	if err != nil {
		return err
	}
	defer target.close()
	staged, err := placeOf(m.staged(f.path))
	if err != nil {
		return err
	}
	defer func() { staged.close() }()
	away := false // the staged file is beside its path
	for range 100 {
		m.at(f.path)
		err := moveNew(staged, target)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, rootfs.ErrCrossDevice) && !away:
			beside, err := m.beside(target, f)
			if err != nil {
				return err
			}
			staged.close()
			staged, away = beside, true
			continue
		case !errors.Is(err, fs.ErrExist):
			return err
		}
		if ok, err := m.clear(target, f); err != nil {
			return err
		} else if !ok {
			continue
		}
		m.at(f.path)
		err = m.t.exchange(staged, target)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case errors.Is(err, errors.ErrUnsupported):
			if err := m.takeOut(target, f); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			return m.cameOut(staged, target, f)
		}
	}
	return &StoppedError{f.path, stoppedBusy}
}

// clear looks at what stands where a file is to be, and reports whether it may be exchanged. An empty folder goes.
func (m *move) clear(target place, f moved) (bool, error) {
	// What follows goes by the path, which must still lead to the open folder.
	opened, err := target.Dir.Stat()
	if now, wrong := os.Lstat(target.At); err != nil || wrong != nil || !os.SameFile(opened, now) {
		return false, &StoppedError{f.path, stoppedFolder}
	}
	info, err := os.Lstat(target.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		if err := removeEmpty(target.path()); err != nil {
			return false, &StoppedError{f.path, stoppedKind}
		}
		return false, nil
	case !ordinary(info):
		return false, &StoppedError{f.path, stoppedKind}
	}
	return true, nil
}

// cameOut looks at the kind of what an exchange has brought out. A folder goes back.
func (m *move) cameOut(staged, target place, f moved) error {
	info, err := os.Lstat(staged.path())
	if err != nil {
		return err
	}
	if ordinary(info) {
		m.took(f, staged.path())
		return nil
	}
	if err := m.t.exchange(staged, target); err != nil {
		return fmt.Errorf("put %s back from %s: %w", git.Printable(f.path), staged.path(), rootfs.Cause(err))
	}
	if info, err := os.Lstat(staged.path()); err == nil && ordinary(info) {
		m.took(f, staged.path()) // the staged one, unless somebody has replaced it in between
	}
	return &StoppedError{f.path, stoppedKind}
}

// remove takes a file out of the work tree. What is no file, or beyond a link, is none of the plan's any more.
func (m *move) remove(f moved) error {
	target, err := m.t.placeFor(f.path, false)
	if errors.Is(err, errAway) {
		return nil
	}
	if err != nil {
		return err
	}
	defer target.close()
	if info, err := os.Lstat(target.path()); err != nil || !ordinary(info) {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	m.at(f.path)
	return m.takeOut(target, f)
}

// takeOut renames what is at a path aside; that it has gone meanwhile is no error.
func (m *move) takeOut(target place, f moved) error {
	to, err := m.aside(f.path)
	if err != nil {
		return err
	}
	defer func() { to.close() }()
	err = moveNew(target, to)
	if errors.Is(err, rootfs.ErrCrossDevice) {
		to.close()
		for n := 0; n < besides; n++ {
			to = m.besideName(target, f, wasBeside+strconv.Itoa(n))
			if err = moveNew(target, to); !errors.Is(err, fs.ErrExist) {
				break
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Lstat(to.path())
	if err != nil {
		return err
	}
	if ordinary(info) {
		m.took(f, to.path())
		return nil
	}
	if err := moveNew(to, target); err != nil {
		return fmt.Errorf("put %s back from %s: %w", git.Printable(f.path), to.path(), rootfs.Cause(err))
	}
	return &StoppedError{f.path, stoppedKind}
}

func (m *move) took(f moved, at string) {
	m.out = append(m.out, &taken{moved: f, at: at})
	m.last = m.t.now()
}

// aside is a free place for a path below one of the folders out-N.
func (m *move) aside(name string) (place, error) {
	for n := 0; ; n++ {
		base := filepath.Join(m.dir, "out-"+strconv.Itoa(n))
		at := filepath.Join(base, filepath.FromSlash(name))
		if filestat.Exists(at) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			if n < len(m.files) { // a file that is taken out already has the name of a folder
				continue
			}
			return place{}, err
		}
		return placeOf(at)
	}
}

// besideName is where a file is prepared on the disk of its path, and where it is taken out to there. The name is of this
// move and this file alone; a killed move finds it again.
func (m *move) besideName(target place, f moved, kind string) place {
	target.Name, target.lent = m.tempName(f.path, kind), true
	return target
}

// A file beside a path is the one that is to come there, until they are exchanged, or one of those that were there.
const (
	toBeside, wasBeside = ".to", ".was-"
	besides             = 9
)

// tempName is the name of a temporary file beside a path.
func (m *move) tempName(name, kind string) string {
	return "." + path.Base(name) + "." + filepath.Base(m.dir) + kind
}

// beside copies the staged file to the disk of its path.
func (m *move) beside(target place, f moved) (place, error) {
	p := m.besideName(target, f, toBeside)
	return p, copyFile(m.staged(f.path), p.path())
}

func (m *move) staged(name string) string {
	return filepath.Join(m.dir, "files", filepath.FromSlash(name))
}

// ordinary reports whether a file can be kept as an object: a regular one, or a link.
func ordinary(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0
}

// carryOut does what the plan says, removals first: what is removed may be where something is to be written. It returns
// what was edited meanwhile, also with an error.
func (t *WorkTree) carryOut(ctx context.Context, p *plan, s *stage, edits string) ([]Edit, error) {
	write := git.Sorted(p.write)
	if err := s.sync(write); err != nil {
		return nil, err
	}
	m := &move{t: t, dir: s.dir, edits: edits, now: p.now, touched: git.Set{}}
	for _, name := range git.Sorted(p.remove) {
		m.files = append(m.files, moved{path: name, was: p.was[name]})
	}
	for _, name := range write {
		m.files = append(m.files, moved{path: name, was: p.was[name], to: p.to[name]})
	}
	if err := m.record(); err != nil {
		return nil, err
	}
	s.unsettled = true
	err := errors.Join(m.run(), m.sync())
	// A caller that wants to stop now does not want an edit to be lost.
	found, wrong := m.settle(context.WithoutCancel(ctx))
	s.unsettled = wrong != nil || !m.settled()
	if s.unsettled {
		os.Remove(filepath.Join(m.dir, "kept")) // the caller learns of those
	}
	return found, errors.Join(err, wrong)
}

// at tells a test that something is about to be done about a path.
func (m *move) at(name string) {
	m.t.Changing()
	if m.t.hooks.at != nil {
		m.t.hooks.at(name)
	}
}

// run moves the files, one after the other.
func (m *move) run() error {
	for _, f := range m.files {
		if !f.to.Exists() {
			if err := m.remove(f); err != nil {
				return err
			}
			m.touched.Add(m.t.prune(path.Dir(f.path)))
			continue
		}
		if err := m.replace(f); err != nil {
			return err
		}
		for dir := path.Dir(f.path); !m.touched[dir]; dir = path.Dir(dir) {
			m.touched.Add(dir)
		}
	}
	return nil
}

// sync brings the folders in which something has changed to disk.
func (m *move) sync() error {
	return git.Each(git.Sorted(m.touched), func(dir string) error {
		if !m.t.IsFolder(dir) { // a file or link has taken its place
			return nil
		}
		return repository.SyncFile(m.t.Path(dir))
	})
}

// lockMove takes the lock of the process that carries a move out.
func lockMove(dir string) (*filelock.Lock, error) { return filelock.Take(filepath.Join(dir, "lock")) }
