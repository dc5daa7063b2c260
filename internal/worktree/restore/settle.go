package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// An Edit is a file that somebody changed while a [WorkTree.Restore] replaced or removed it. The work tree has the file of
// the tree that was restored; the edit is saved.
type Edit struct {
	Path string `json:"path"`           // printable, as in [worktree.Tree.Changed]
	Ref  string `json:"ref,omitempty"`  // where the edit is: a commit whose tree has it at the path
	Show string `json:"show,omitempty"` // the git command that prints it
	// File is set while a program may still write to the file that was taken out: its path, below the private folder.
	// The next Restore saves what is written there.
	File string `json:"file,omitempty"`
}

// grace is how long a file that came out is left to programs that had it open, where the system does not say whether
// there are any.
const grace = 2 * time.Second

// hooks are what tests replace.
type hooks struct {
	at       func(path string) // before each step about a path
	exchange func(a, b place) error
	writers  func(f *os.File) (busy, known bool)
	now      func() time.Time
	pause    func(time.Duration)
}

func (t *WorkTree) exchange(a, b place) error {
	if t.hooks.exchange != nil {
		return t.hooks.exchange(a, b)
	}
	return exchange(a, b)
}

func (t *WorkTree) writers(f *os.File) (busy, known bool) {
	if t.hooks.writers != nil {
		return t.hooks.writers(f)
	}
	return writers(f)
}

func (t *WorkTree) now() time.Time {
	if t.hooks.now != nil {
		return t.hooks.now()
	}
	return time.Now()
}

func (t *WorkTree) pause(d time.Duration) {
	if t.hooks.pause != nil {
		t.hooks.pause(d)
	} else {
		time.Sleep(d)
	}
}

// rounds is how often a file is looked at that changes while it is saved. Then it stays where it is.
const rounds = 4

// settle looks at what came out. What is neither what the plan saw nor what it put there is saved as an edit; then, when
// no process has the file open for writing, it is removed. settle returns the edits, also with an error; what is not
// settled stays for the next Restore.
func (m *move) settle(ctx context.Context) ([]Edit, error) {
	var wrong error
	for range rounds {
		var odd []*taken
		for _, f := range m.out {
			if err := m.release(f); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("look at %s, which came out of the work tree: %w", f.at, err))
				f.open = true
			}
			if !f.gone && !f.open {
				odd = append(odd, f)
			}
		}
		if len(odd) == 0 {
			break
		}
		if err := m.keepEdits(ctx, m.cleaned(ctx, odd)); err != nil {
			wrong = fmt.Errorf("keep what was edited meanwhile: %w", err)
			break
		}
	}
	var edits []Edit
	for _, f := range m.out {
		if !f.gone {
			f.edit.Path, f.edit.File = git.Printable(f.path), f.at
		}
		if f.edit.Path != "" {
			edits = append(edits, f.edit)
		}
	}
	return edits, wrong
}

// settled reports whether everything that is left is saved elsewhere.
func (m *move) settled() bool {
	return !slices.ContainsFunc(m.out, func(f *taken) bool { return !f.gone })
}

// release removes a file whose content is saved elsewhere, unless it may still be written to. Otherwise it notes what the
// file holds.
func (m *move) release(f *taken) error {
	if f.gone || f.open {
		return nil
	}
	m.at(f.path)
	info, err := os.Lstat(f.at)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(f.at)
		if err != nil {
			return err
		}
		f.holds = repository.Entry{Mode: repository.ModeSymlink, ID: m.t.BlobID(strings.NewReader(to), int64(len(to)))}
		return m.drop(f)
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	file, err := os.Open(f.at)
	if err != nil {
		return err
	}
	defer file.Close()
	busy, known := m.t.writers(file)
	if left := grace - m.t.now().Sub(m.last); !known && left > 0 {
		m.t.pause(left)
	}
	if info, err = file.Stat(); err != nil {
		return err
	}
	f.holds = repository.Entry{Mode: repository.ModeOf(info.Mode()), ID: m.t.BlobID(file, info.Size())}
	if busy = busy || known && !unwritten(file); busy && f.kept() {
		f.open = true
		return nil
	}
	if busy {
		return nil
	}
	return m.drop(f)
}

// drop removes a file whose content is saved elsewhere.
func (m *move) drop(f *taken) error {
	if !f.kept() {
		return nil
	}
	m.at(f.path)
	if err := os.Remove(f.at); err != nil {
		return err
	}
	f.gone = true
	return nil
}

// kept reports whether what the file holds is elsewhere too.
func (f *taken) kept() bool {
	return f.holds == f.was || f.holds == f.to || slices.Contains(f.safe, f.holds)
}

// String says what became of the edit.
func (e Edit) String() string {
	var parts []string
	if e.Show != "" {
		parts = append(parts, e.Path+" was edited meanwhile, and the edit is saved: "+e.Show)
	}
	if e.File != "" {
		parts = append(parts, e.Path+" is still open in another program; what that writes goes to "+e.File)
	}
	return strings.Join(parts, "; ")
}
