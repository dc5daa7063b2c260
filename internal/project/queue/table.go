package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// tableQueue is the queue of a project in a database. Files that somebody puts into the folder of the queue become rows.
type tableQueue struct {
	files fileQueue
	place project.Place
	at    *project.Shared
	d     *postgres.Database
}

func openTable(home string) (backend, error) {
	t := &tableQueue{files: fileQueue{home}, place: project.At(filepath.Dir(home), "")}
	var err error
	if t.at, err = t.place.Shared(); err != nil {
		return nil, err
	}
	t.d, err = t.at.Database(context.Background(), nil)
	return t, err
}

// own opens the project's own machine, by which other computers learn who takes a task.
func (t *tableQueue) own() (*postgres.Store, error) {
	m, err := t.place.Open(project.StoreOptions{})
	if err != nil {
		return nil, err
	}
	s, ok := m.(*postgres.Store)
	if !ok { // it was moved to files meanwhile
		return nil, errors.Join(fs.ErrNotExist, m.Close())
	}
	return s, nil
}

// list reads more of a text than a task may have, also without a last character that was cut: so a longer one is refused, and not shortened.
func (t *tableQueue) list() ([]Item, error) {
	return t.waiting(maxFileHead + store.MaxDoc + utf8.UTFMax)
}

// heads is list with the beginning of each text.
func (t *tableQueue) heads() ([]Item, error) { return t.waiting(maxHead) }

// waiting returns the tasks that wait, with at most so many bytes of their heads and texts.
func (t *tableQueue) waiting(most int) ([]Item, error) {
	list, in, err := t.d.Waiting(context.Background(), t.at.Project, most)
	if err == nil && !in {
		_, err = t.place.Open(project.StoreOptions{ReadOnly: true}) // which says what has become of the project
	}
	if err != nil {
		return nil, err
	}
	var bad []error
	var waiting []Item
	for _, q := range list {
		text := string(q.Text)
		if len(text) < q.Size {
			text = wholeRunes(text)
		}
		text, h, err := kept(text)
		if err := errors.Join(checkName(q.Name), err); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", safetext.Line(q.Name), rootfs.Cause(err)))
			continue
		}
		h.Added = q.Added
		waiting = append(waiting, Item{Head: h, Name: q.Name, Text: text, in: t, change: q.Change})
	}
	slices.SortStableFunc(waiting, inOrder)
	return waiting, invalid(bad)
}

// wholeRunes is the beginning of a text without a last character that was cut.
func wholeRunes(text string) string {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRuneInString(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

func (t *tableQueue) put(name, text string, h Head) (Item, error) {
	as, err := t.d.Enqueue(context.Background(), t.at.Project,
		postgres.Entry{Text: []byte(h.With(text)), Source: uuid.New(), Once: h.Issue != "", Name: func(n int) string { return numbered(name, n) }})
	return Item{Head: h, Name: as, Text: text, in: t}, err
}

func (t *tableQueue) change(it Item, do func(content string) (string, error)) error {
	s, err := t.own()
	if err != nil {
		return err
	}
	return s.Requeue(context.Background(), it.Name, func(row []byte) ([]byte, error) {
		content, err := do(string(row))
		return []byte(content), err
	})
}

func (t *tableQueue) remove(it Item) error {
	s, err := t.own()
	if err != nil {
		return err
	}
	return s.Dequeue(context.Background(), it.Name)
}

func (t *tableQueue) claim(ctx context.Context, it Item) (*Claim, error) {
	s, err := t.own()
	if err != nil {
		return nil, err
	}
	_, _, pipeline := it.Pipeline() // its run is a folder of the computer that has started it
	c, err := s.ClaimQueued(ctx, it.Name, pipeline)
	if err != nil || c == nil {
		return nil, err
	}
	late := context.WithoutCancel(ctx) // what was begun is recorded
	added := it.Added
	if it.Text, it.Head, err = kept(string(c.Text)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", safetext.Line(it.Name), rootfs.Cause(err)), c.Close(late))
	}
	it.Added = added
	return &Claim{Item: it, Branch: c.Branch, Since: c.Since,
		done: func() error { return c.Done(late) }, close: func() error { return c.Close(late) }}, nil
}

// collect makes rows of the files in the folder of the queue, and returns their number. A file whose row was made by a call that was cut off makes no
// second one. bad names the files that are no tasks.
func (t *tableQueue) collect() (n int, bad, err error) {
	list, bad := t.files.list()
	if len(list) == 0 {
		return 0, bad, nil
	}
	root, err := rootfs.Open(t.files.home)
	if err != nil {
		return 0, bad, err
	}
	defer root.Close()
	for _, it := range list {
		name := path.Join(folder, it.Name+ext)
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was faster
		}
		if err == nil {
			// The name may be that of a branch: its making from this file was cut off.
			_, err = t.d.Enqueue(context.Background(), t.at.Project, waitingEntry(t.at.Node, it, info))
		}
		if err != nil {
			return n, bad, err
		}
		n++
		now, err := root.Lstat(name)
		if err != nil || !rootfs.Unchanged(info, now) {
			continue // it has another text by now, which is another task
		}
		if err := atomicfile.Remove(root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, bad, err
		}
	}
	return n, bad, nil
}

// waitingEntry is the row of a file with a task that waits.
func waitingEntry(node uuid.UUID, it Item, info fs.FileInfo) postgres.Entry {
	return postgres.Entry{Text: it.row(), Added: it.Added, Keep: true, Source: source(node, it.Name, info.ModTime().UnixNano(), it.Text),
		Name: func(n int) string { return numbered(it.Name, n) }}
}

// row is the content of the row of a task: the time is a column.
func (it Item) row() []byte {
	h := it.Head
	h.Added = time.Time{}
	return []byte(h.With(it.Text))
}

// source names a file of a computer as the source of a row.
func source(node uuid.UUID, name string, at int64, text string) uuid.UUID {
	return uuid.NewSHA1(node, fmt.Appendf(nil, "%s\x00%d\x00%s", name, at, text))
}

// collectTaken records the tasks that were taken as files.
func (t *tableQueue) collectTaken() error {
	entries, err := takenEntries(t.files.home, t.at.Node)
	for _, e := range entries {
		if _, err := t.d.Enqueue(context.Background(), t.at.Project, e); err != nil {
			return err
		}
	}
	return err
}

// takenEntries are the rows of the files of tasks that were taken.
func takenEntries(home string, node uuid.UUID) ([]postgres.Entry, error) {
	root, err := rootfs.Open(home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := root.ReadDir(takenDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []postgres.Entry
	for _, d := range files {
		it, ok := itemOf(d)
		if !ok || checkName(it.Name) != nil {
			continue
		}
		content, wrong := root.ReadFile(path.Join(takenDir, d.Name()), store.MaxDoc+maxFileHead)
		if wrong != nil {
			continue // the name of such a file may be used once more
		}
		text, h, wrong := Split(string(content))
		if wrong != nil { // it was changed after it was taken
			text = string(content)
		}
		it.Text, it.Head = text, h
		entries = append(entries, postgres.Entry{Text: it.row(), Added: h.Added, Taken: true, Source: source(node, takenDir+"/"+it.Name, 0, text),
			Name: func(int) string { return it.Name }})
	}
	return entries, err
}
