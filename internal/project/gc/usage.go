package gc

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/store/file"
)

// The traces of a machine, living or removed, are what it says about its past.
type usage struct {
	dir     string               // below .ferrus, with slashes
	branch  string               // "" for the project's own
	tasks   map[string]time.Time // all it knows of, and when the last event of each was
	merges  map[uint64]time.Time // the entries at which one began while there was no task, and is over
	present string               // its task, "" for none
	last    time.Time            // when its last event was
}

// usages returns the machines of a project, those of removed branches, and the names of all trees that are saved in its repository.
func usages(ctx context.Context, home *rootfs.Root, root string) (living, removed []*usage, kept []string, err error) {
	if living, err = livingIn(home, root); err != nil {
		return nil, nil, nil, err
	}
	if removed, err = removedIn(home); err != nil {
		return nil, nil, nil, err
	}
	kept, err = keptIn(ctx, root)
	return living, removed, kept, err
}

// livingIn reads all machines of a project.
func livingIn(home *rootfs.Root, root string) ([]*usage, error) {
	names, err := project.Branches(root)
	if err != nil {
		return nil, err
	}
	var list []*usage
	for _, name := range append([]string{""}, names...) {
		dir := "."
		if name != "" {
			dir = path.Join("branches", name)
		}
		m, err := livingAt(home, project.At(root, name), dir)
		if err != nil {
			where := cmp.Or(name, "the project")
			return nil, &refusal.RefusedError{Code: cmp.Or(refusal.CodeOf(err), refusal.StoreError), Message: fmt.Sprintf("what %s still needs cannot be known: %v", where, err),
				Remedy: "nothing was removed; ferrus doctor{branch} says what ails it", Person: true}
		}
		m.branch = name
		list = append(list, m)
	}
	return list, nil
}

// removedIn reads the machines of removed branches. One that cannot be read is left alone.
func removedIn(home *rootfs.Root) ([]*usage, error) {
	dir := project.ArchivedBranches
	names, err := project.FoldersIn(home, dir)
	var list []*usage
	for _, name := range names {
		if strings.HasPrefix(name, project.RemovingPrefix) {
			list = append(list, &usage{dir: path.Join(dir, name), branch: strings.TrimPrefix(name, project.RemovingPrefix)})
			continue
		}
		if _, err := home.Lstat(path.Join(dir, name, "journal.jsonl")); err != nil {
			continue // to open it would make it a machine
		}
		if m, err := removedAt(home, path.Join(dir, name)); err == nil && !m.last.IsZero() {
			m.branch = name
			_, stamp, _ := strings.Cut(name, "@")
			if at, err := time.Parse(project.RemovedLayout, stamp); err == nil && at.After(m.last) {
				m.last = at
			}
			list = append(list, m)
		}
	}
	return list, err
}

// livingAt reads the machine of a place, wherever it is kept. dir is its folder below home.
func livingAt(home *rootfs.Root, place project.Place, dir string) (*usage, error) {
	if !place.InDatabase() {
		return removedAt(home, dir)
	}
	s, err := place.Open(project.StoreOptions{Log: slog.New(slog.DiscardHandler), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return trace(home, dir, s)
}

// removedAt reads the machine whose files lie in a folder.
func removedAt(home *rootfs.Root, dir string) (*usage, error) {
	at, err := home.Path(dir)
	if err != nil {
		return nil, refusal.Folder(err)
	}
	s, err := file.Open(at, file.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return trace(home, dir, s)
}

// trace reads a machine's journal, and its archive, which may have tasks of a journal that was lost.
func trace(home *rootfs.Root, dir string, s store.Machine) (*usage, error) {
	m := &usage{dir: dir, tasks: map[string]time.Time{}, merges: map[uint64]time.Time{}}
	names, err := project.FoldersIn(home, path.Join(dir, "archive"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if at, ok := began(name); ok { // no other is ours
			m.tasks[name] = at
			if l, err := project.LastEventIn(home, path.Join(dir, "archive", name)); err == nil {
				m.tasks[name] = l.At
			}
		}
	}
	open := uint64(0) // the merge that is not over
	for l, err := range s.History() {
		if err != nil {
			return nil, err
		}
		id := l.State.TaskID
		if l.Event == state.MergeBegun && id == "" {
			m.merges[l.Seq], open = l.At, l.Seq
		}
		if l.State.Returning == (state.FileMove{}) {
			open = 0
		}
		m.tasks[cmp.Or(id, m.present)] = l.At // a reset is the end of the task before it
		m.present, m.last = id, l.At
	}
	delete(m.tasks, "")
	delete(m.merges, open)
	return m, nil
}

// whole is the id of a task as ferrus makes it, or an older one of four digits: of one version none is the beginning of another.
var whole = safetext.Lazily(`^t-[0-9]{8}-[0-9]{6}-([0-9a-f]{4}|[0-9a-f]{8})$`)

// began is the time in the id of a task.
func began(task string) (time.Time, bool) {
	const layout = "t-20060102-150405"
	if !whole().MatchString(task) {
		return time.Time{}, false
	}
	at, err := time.Parse(layout, task[:len(layout)])
	return at, err == nil
}

// files are the files that a machine has of a task beside its journal, below .ferrus. They are found in lists of folders
// by the beginning of their names: what a journal says is never a pattern, nor a path.
func (m *usage) files(home *rootfs.Root, task string) []string {
	if !whole().MatchString(task) {
		return nil
	}
	var list []string
	for dir, ours := range map[string]func(name string) bool{
		"logs":    func(name string) bool { return strings.HasPrefix(strings.TrimPrefix(name, "agent-"), task+"-") },
		"runs":    func(name string) bool { return name == task+".jsonl" },
		"archive": func(name string) bool { return name == task },
	} {
		entries, _ := home.ReadDir(path.Join(m.dir, dir)) // where there is none, there are no files
		for _, entry := range entries {
			if ours(entry.Name()) {
				list = append(list, path.Join(m.dir, dir, entry.Name()))
			}
		}
	}
	slices.Sort(list)
	return list
}
