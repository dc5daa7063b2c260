// Package queue has the tasks that wait, by their priority and in the order in which they were added.
//
// Each task is a Markdown file of the folder .ferrus/queue, which you can edit as well as ferrus
// can. In a project whose state is in a database each task is a row, and files that somebody puts
// into the folder become rows. A file that has no time in its head, because no command has written it,
// comes after those that have one, by name. A task may need others; internal/engine/branch says how those
// stand. internal/conductor/schedule takes tasks from the queue. Each becomes a branch that
// has the name of its task.
package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

const (
	folder   = "queue"
	takenDir = "queue/taken" // those that have become branches
	ext      = ".md"
)

// An Item is a task in the queue.
type Item struct {
	Head        // Added is also zero for what Put returns of a database
	Name string // valid as the name of a branch
	Path string // of its file; "" in a database
	Text string // of Heads and Peek: its beginning

	in     backend // where it waits
	change int64   // in a database another one after each change of the text
}

// Same reports whether a task that could be another one by now is that of an earlier list.
func (it Item) Same(was Item) bool {
	return it.Name == was.Name && it.Path == was.Path && it.Head.With(it.Text) == was.Head.With(was.Text) && it.change == was.change
}

// maxHead bounds the beginning of a text, with its head, in bytes. Most texts are shorter.
const maxHead = 4 << 10

// String says where the task is, for people.
func (it Item) String() string { return cmp.Or(it.Path, "the task "+it.Name+" of the queue") }

// Renaming says how to give the task another name.
func (it Item) Renaming() string {
	if it.Path != "" {
		return "call the file " + it.Path + " by another name"
	}
	return "add the task by another name, as ferrus queue --show " + it.Name + " prints it, then: ferrus queue --remove " + it.Name
}

// Title returns the first line of the task that is not empty, without hidden characters; of a pipeline that waits its name and
// its topic.
func (it Item) Title() string {
	if pipeline, topic, ok := it.Pipeline(); ok {
		return safetext.Line(pipeline + ": " + strings.Join(strings.Fields(topic), " "))
	}
	first, _, _ := strings.Cut(strings.Trim(it.Text, "\n"), "\n")
	return safetext.Line(first)
}

// List returns the tasks in the queue of the project of a .ferrus folder, the next one first. Of the
// files it ignores those that are hidden or are not regular *.md files. An *InvalidError names the
// files that contain no task, have a second name elsewhere, or cannot name a branch; the other tasks
// are returned all the same. If the folder is a link, that is an error, and no task is returned. Files
// of a project in a database become tasks of it first.
func List(home string) ([]Item, error) { return collected(home, backend.list) }

// Heads is List with the beginnings of the texts, for those who look again and again. [Take] reads the whole text.
func Heads(home string) ([]Item, error) { return collected(home, backend.heads) }

// collected reads the queue after files have become tasks of the database.
func collected(home string, read func(backend) ([]Item, error)) ([]Item, error) {
	in, err := of(home)
	if err != nil {
		return nil, err
	}
	var bad error
	if t, ok := in.(*tableQueue); ok {
		if _, bad, err = t.collect(); err != nil {
			return nil, errors.Join(bad, err)
		}
	}
	list, err := read(in)
	return list, errors.Join(bad, err)
}

// Peek is Heads for those who only show the queue: it changes nothing, and so also returns the files
// that have not become tasks of the database yet.
func Peek(home string) ([]Item, error) {
	in, err := of(home)
	if err != nil {
		return nil, err
	}
	list, err := in.heads()
	if t, ok := in.(*tableQueue); ok {
		dropped, bad := t.files.list()
		list, err = append(list, dropped...), errors.Join(err, bad)
		slices.SortStableFunc(list, inOrder)
	}
	return list, err
}

// Find returns the task of a name that waits.
func Find(home, name string) (Item, error) {
	list, _ := List(home) // the command that lists it says what else is wrong
	for _, it := range list {
		if it.Name == name {
			return it, nil
		}
	}
	return Item{}, notWaiting(fmt.Sprintf("%.80q", name))
}

// notWaiting is the error for a name that no task has which waits.
func notWaiting(name string) error {
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: "no task waits as " + name, Remedy: "ferrus queue lists the tasks that wait"}
}

// Change replaces the text of a task that waits, and what it needs and its priority, by what do returns of what they are. The time at which it was added
// stays. The error is a *refusal.RefusedError for an invalid text, and when the task does not wait any more.
func Change(it Item, do func(text string, h Head) (string, Head)) error {
	return it.in.change(it, func(content string) (string, error) {
		text, h, err := Split(content)
		if err != nil {
			return "", err
		}
		next, head := do(text, h)
		if next, err = clean(next); err == nil {
			err = head.fits()
		}
		head.Added = h.Added
		return head.With(next), err
	})
}

// Replace replaces the text of a task that waits. Its issue stays, and so do what it needs and its priority, unless the head of the text has others. The
// error is that of [Change].
func Replace(it Item, text string) error {
	text, with, err := handedIn(text)
	if err != nil {
		return err
	}
	return Change(it, func(_ string, h Head) (string, Head) {
		if with.Needs != nil {
			h.Needs = with.Needs
		}
		if with.Priority != 0 {
			h.Priority = with.Priority
		}
		h.Conflict = Conflict{}
		return text, h
	})
}

// Remove removes a task that waits. The error is a *refusal.RefusedError when the task does not wait any more.
func Remove(it Item) error { return it.in.remove(it) }

// inOrder compares two tasks by their priority, then by the time at which they were added, then by name. Those without a time come last of a priority.
func inOrder(a, b Item) int {
	late := func(it Item) int {
		if it.Added.IsZero() {
			return 1
		}
		return 0
	}
	return cmp.Or(a.priority()-b.priority(), late(a)-late(b), a.Added.Compare(b.Added), strings.Compare(a.Name, b.Name))
}

// fileQueue is the queue of a project in files.
type fileQueue struct {
	home string // the .ferrus folder
}

// heads returns the whole texts: files are near.
func (f fileQueue) heads() ([]Item, error) { return f.list() }

func (f fileQueue) list() ([]Item, error) {
	root, err := rootfs.Open(f.home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := root.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	bad := []error{err}
	var list []Item
	for _, d := range entries {
		it, ok := itemOf(d)
		if !ok {
			continue
		}
		it.Path, it.in = filepath.Join(root.Dir(), folder, d.Name()), f
		switch it.Text, it.Head, err = read(root, it.Name); {
		case errors.Is(err, fs.ErrNotExist): // the task was taken meanwhile
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", it.Path, err))
		default:
			list = append(list, it)
		}
	}
	slices.SortFunc(list, inOrder)
	return list, invalid(bad)
}

// An InvalidError names what is no task in a queue. The other tasks are not affected.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return e.Err.Error() }

func (e *InvalidError) Unwrap() error { return e.Err }

// invalid is the *InvalidError of several errors, nil for none.
func invalid(bad []error) error {
	if err := errors.Join(bad...); err != nil {
		return &InvalidError{err}
	}
	return nil
}

// itemOf returns the task of a file by its name, and false for a file that is none.
func itemOf(d fs.DirEntry) (Item, bool) {
	name, ours := strings.CutSuffix(d.Name(), ext)
	return Item{Name: name}, ours && !strings.HasPrefix(name, ".") && d.Type().IsRegular()
}

// read returns the text and the head of a file that can name a branch and contains its task.
func read(root *rootfs.Root, name string) (text string, h Head, err error) {
	if err := checkName(name); err != nil {
		return "", h, err
	}
	file := path.Join(folder, name+ext)
	if err := checkLinks(root, file); err != nil {
		return "", h, err
	}
	content, err := root.ReadFile(file, store.MaxDoc+maxFileHead)
	if errors.Is(err, rootfs.ErrTooLarge) {
		return "", h, &refusal.RefusedError{Code: refusal.TooLarge, Message: fmt.Sprintf("it has more than %d bytes", store.MaxDoc), Remedy: "shorten it, or move it away"}
	}
	if err != nil {
		return "", h, err
	}
	return kept(string(content))
}

// checkLinks refuses a file with a second name outside of the queue: someone may have linked one of
// your files here, and its text would be given to agents. While a task is put or taken it has two
// names in the queue for a moment, or permanently if that was interrupted.
func checkLinks(root *rootfs.Root, name string) error {
	for try := 0; ; try++ {
		file, err := root.Lstat(name)
		if err != nil {
			return err
		}
		links, known := linksOf(file), 0
		if links <= 1 {
			return nil
		}
		for _, dir := range []string{folder, takenDir} {
			entries, err := root.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, d := range entries {
				if info, err := root.Lstat(path.Join(dir, d.Name())); err == nil && os.SameFile(file, info) {
					known++
				}
			}
		}
		switch {
		case links <= known:
			return nil
		case try == 2: // a name that was being removed is gone by now
			return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("the file has %d names (hard links) of which %d are in the queue", links, known),
				Remedy: "copy it to a file of its own in the queue"}
		}
	}
}

// checkName refuses names that a branch cannot have.
func checkName(name string) error {
	if err := state.CheckBranch(name); err != nil {
		return &refusal.RefusedError{Code: refusal.InvalidInput, Message: err.Error(), Remedy: "take another name"}
	}
	return nil
}
