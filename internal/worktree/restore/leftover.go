package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/worktree/filestat"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// moving begins the names of the folders of moves.
const moving = "move-"

// IsMove reports whether a file of that name in the private folder is that of a move.
func IsMove(name string) bool { return strings.HasPrefix(name, moving) }

// abandoned is how old the folder of a move that has moved nothing must be to be removed.
const abandoned = time.Hour

// planHead is the first field of a plan's file.
const planHead = "ferrus move 1"

// record writes down what the move is about to do: with it, what a killed move had taken out can be told from an edit.
// It is on disk when record returns.
func (m *move) record() error {
	var b strings.Builder
	b.WriteString(planHead + "\x00" + m.edits + "\x00" + m.now + "\x00")
	for _, f := range m.files {
		fmt.Fprintf(&b, "%s %s %s %s\t%s\x00", orNone(f.was.Mode), orNone(f.was.ID), orNone(f.to.Mode), orNone(f.to.ID), f.path)
	}
	root, err := rootfs.Open(m.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := atomicfile.Replace(root, "plan", []byte(b.String()), 0o600); err != nil {
		return err
	}
	return repository.SyncFile(m.t.Private())
}

func orNone(field string) string {
	if field == "" {
		return "-"
	}
	return field
}

// readMove reads what a move has written down. The error is fs.ErrNotExist if it had not begun.
func (t *WorkTree) readMove(dir string) (*move, error) {
	data, err := os.ReadFile(filepath.Join(dir, "plan"))
	if err != nil {
		return nil, err
	}
	fields := git.Split(data)
	if len(fields) < 3 || fields[0] != planHead || repository.CheckName(fields[1]) != nil || !repository.IsID(fields[2]) {
		return nil, fmt.Errorf("read %s: it is not the plan of a move", filepath.Join(dir, "plan"))
	}
	m := &move{t: t, dir: dir, edits: fields[1], now: fields[2], touched: git.Set{}}
	for _, line := range fields[3:] {
		info, name, ok := strings.Cut(line, "\t")
		of := strings.Split(info, " ")
		if !ok || len(of) != 4 || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("read %s: cannot read %.80q", filepath.Join(dir, "plan"), line)
		}
		for i := range of {
			of[i] = strings.TrimPrefix(of[i], "-")
		}
		m.files = append(m.files, moved{path: name, was: repository.Entry{Mode: of[0], ID: of[1]}, to: repository.Entry{Mode: of[2], ID: of[3]}})
	}
	return m, nil
}

// find looks for what the move had taken out of the work tree, and for what it had not brought in.
func (m *move) find() error {
	bases, err := fs.Glob(os.DirFS(m.dir), "out-*")
	if err != nil {
		return err
	}
	for _, f := range m.files {
		for _, base := range bases {
			at := filepath.Join(m.dir, base, filepath.FromSlash(f.path))
			if info, err := os.Lstat(at); err == nil && ordinary(info) {
				m.out = append(m.out, &taken{moved: f, at: at})
			}
		}
		if f.to.Exists() && filestat.Exists(m.staged(f.path)) {
			m.out = append(m.out, &taken{moved: f, at: m.staged(f.path)})
		}
		beside, err := m.t.placeFor(f.path, false)
		if err != nil {
			continue
		}
		for n := -1; n < besides; n++ {
			kind := toBeside
			if n >= 0 {
				kind = wasBeside + strconv.Itoa(n)
			}
			beside.Name = m.tempName(f.path, kind)
			if info, err := os.Lstat(beside.path()); err == nil && ordinary(info) {
				m.out = append(m.out, &taken{moved: f, at: beside.path()})
			}
		}
		beside.close()
	}
	m.last = m.t.now()
	return nil
}

// putBack returns folders, and what is no file, to where they came from: the move was killed before it could.
func (m *move) putBack() error {
	for _, f := range m.out {
		if info, err := os.Lstat(f.at); err != nil || ordinary(info) {
			continue
		}
		err := m.swapBack(f)
		if err != nil {
			return fmt.Errorf("a killed command left %s in %s; move it to where you want it, then run this command again: %w", git.Printable(f.path), f.at, err)
		}
		f.gone = !filestat.Exists(f.at)
	}
	return nil
}

func (m *move) swapBack(f *taken) error {
	target, err := m.t.placeFor(f.path, true)
	if err != nil {
		return err
	}
	defer target.close()
	from, err := placeOf(f.at)
	if err != nil {
		return err
	}
	defer from.close()
	m.at(f.path)
	err = moveNew(from, target)
	if info, at := os.Lstat(target.path()); errors.Is(err, fs.ErrExist) && at == nil && ordinary(info) {
		err = m.t.exchange(from, target)
	}
	return err
}

// Recover finishes what a [WorkTree.Restore] that was killed, or met open files, has left: it keeps the edits that had come
// out of the work tree, and returns them. A file that a program still has open for writing stays for another time.
// Restore does this first. It does nothing without git.
func (t *WorkTree) Recover(ctx context.Context) ([]Edit, error) {
	if !t.Git() {
		return nil, nil
	}
	if err := t.Prepare(ctx); err != nil {
		return nil, err
	}
	return t.recover(ctx)
}

func (t *WorkTree) recover(ctx context.Context) ([]Edit, error) {
	var edits []Edit
	dirs, err := t.moves()
	for _, dir := range dirs {
		found, wrong := t.recoverMove(ctx, dir)
		edits, err = append(edits, found...), errors.Join(err, wrong)
	}
	return edits, err
}

// moves lists the folders of moves, finished or not.
func (t *WorkTree) moves() ([]string, error) {
	root, err := t.OpenPrivate()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	inside, err := root.ReadDir(".")
	var dirs []string
	for _, e := range inside {
		if e.IsDir() && strings.HasPrefix(e.Name(), moving) {
			dirs = append(dirs, filepath.Join(t.Private(), e.Name()))
		}
	}
	return dirs, err
}

func (t *WorkTree) recoverMove(ctx context.Context, dir string) ([]Edit, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, nil // another process has recovered it
	}
	lock, err := lockMove(dir)
	if errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	m, err := t.readMove(dir)
	if errors.Is(err, fs.ErrNotExist) { // it had moved nothing
		if time.Since(info.ModTime()) > abandoned {
			t.RemoveTemp(dir)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := m.find(); err != nil {
		return nil, err
	}
	if err := m.putBack(); err != nil {
		return nil, err
	}
	edits := m.noted()
	found, err := m.settle(ctx)
	edits = append(edits, found...)
	if err == nil && m.settled() {
		t.RemoveTemp(dir)
	}
	return edits, err
}

// A Leftover is what a killed [WorkTree.Restore], or one during which a program had files open for writing, left in the
// private folder. The next Restore keeps what was edited there.
type Leftover struct {
	Dir   string   // below the private folder
	Files []string // printable, as in [worktree.Tree.Changed]: those that came out of the work tree
}

// Leftovers lists what moves have left that are at work no more. It changes nothing.
func (t *WorkTree) Leftovers() ([]Leftover, error) {
	if !t.Git() {
		return nil, nil
	}
	dirs, err := t.moves()
	var all []Leftover
	for _, dir := range dirs {
		if held, _ := filelock.Held(filepath.Join(dir, "lock")); held {
			continue
		}
		m, wrong := t.readMove(dir)
		if errors.Is(wrong, fs.ErrNotExist) {
			continue
		}
		l := Leftover{Dir: dir}
		if wrong == nil {
			wrong = m.find()
		}
		if wrong == nil {
			for _, f := range m.out {
				if f.at != m.staged(f.path) || !m.ours(f) {
					l.Files = append(l.Files, git.Printable(f.path))
				}
			}
			slices.Sort(l.Files)
			l.Files = slices.Compact(l.Files)
		}
		err = errors.Join(err, wrong)
		all = append(all, l)
	}
	return all, err
}

// ours reports whether the file holds what the move was to put into the work tree.
func (m *move) ours(f *taken) bool {
	info, err := os.Lstat(f.at)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(f.at)
	if err != nil {
		return false
	}
	defer file.Close()
	return repository.Entry{Mode: repository.ModeOf(info.Mode()), ID: m.t.BlobID(file, info.Size())} == f.to
}
