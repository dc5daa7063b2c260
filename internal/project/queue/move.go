package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/postgres"
)

// Collect makes the files in the folder of the queue tasks of the database, if the project is in one, and returns their number. A call that was cut
// off is finished by the next one. Files that are no tasks stay: [List] names them.
func Collect(home string) (n int, err error) {
	in, err := of(home)
	if t, ok := in.(*tableQueue); ok && err == nil {
		n, _, err = t.collect()
	}
	return n, err
}

// Departing returns the tasks in the files of a project as they will be in a database, to which the folder comes as node: those that wait, and those that
// were taken. Files that are no tasks are left out. [MoveIn] removes the files afterwards, and adds none of them once more.
func Departing(home string, node uuid.UUID) ([]postgres.Entry, error) {
	list, err := fileQueue{home}.list()
	if invalid := (*InvalidError)(nil); err != nil && !errors.As(err, &invalid) {
		return nil, err
	}
	var entries []postgres.Entry
	if len(list) > 0 {
		root, err := rootfs.Open(home)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		for _, it := range list {
			info, err := root.Lstat(path.Join(folder, it.Name+ext))
			if errors.Is(err, fs.ErrNotExist) {
				continue // somebody has removed it meanwhile
			}
			if err != nil {
				return nil, err
			}
			entries = append(entries, waitingEntry(node, it, info))
		}
	}
	taken, err := takenEntries(home, node)
	return append(entries, taken...), err
}

// MoveIn is [Collect] for a project that has just been moved into a database: the names of the tasks that were taken go along.
func MoveIn(home string) (int, error) {
	n, err := Collect(home)
	if err != nil {
		return n, err
	}
	in, err := of(home)
	if t, ok := in.(*tableQueue); ok && err == nil {
		err = t.collectTaken()
	}
	return n, err
}

// MoveOut writes the queue of a project that was moved out of its database into files, and returns the number of tasks that wait. It never overwrites a file,
// and writes none twice: a call that was cut off is finished by the next one.
func MoveOut(home string) (waiting int, err error) {
	in, err := of(home)
	t, ok := in.(*tableQueue)
	if err != nil || !ok {
		return 0, err
	}
	list, _, err := t.d.Queue(context.Background(), t.at.Project)
	if err != nil {
		return 0, err
	}
	root, err := rootfs.Open(home)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if err := atomicfile.MkdirAll(root, takenDir, 0o700); err != nil {
		return 0, err
	}
	for _, q := range list {
		if err := checkName(q.Name); err != nil {
			return waiting, fmt.Errorf("%s: %w", safetext.Line(q.Name), rootfs.Cause(err))
		}
		dir := takenDir
		if !q.Taken {
			dir = folder
			waiting++
		}
		if err := writeOnce(root, dir, q); err != nil {
			return waiting, err
		}
	}
	return waiting, nil
}

// writeOnce writes a file of a task, unless one of its name or a numbered variant has its text.
func writeOnce(root *rootfs.Root, dir string, q postgres.Queued) error {
	text, h, err := Split(string(q.Text))
	if err != nil { // an older ferrus has added it
		text = string(q.Text)
	}
	h.Added = q.Added
	for n := 1; ; n++ {
		at := path.Join(dir, numbered(q.Name, n)+ext)
		if has, err := root.ReadFile(at, store.MaxDoc+maxFileHead); err == nil {
			if had, _, err := Split(string(has)); err == nil && had == text {
				return nil
			}
		}
		if err := atomicfile.Create(root, at, []byte(h.With(text)), 0o600); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}
