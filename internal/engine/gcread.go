package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// The traces of a machine, living or removed, are what it says about its past.
type traces struct {
	dir     string
	branch  string               // "" for the project's own
	tasks   map[string]time.Time // all it knows of, and when the last event of each was
	merges  map[uint64]time.Time // the entries at which one began while there was no task, and is over
	present string               // its task, "" for none
	last    time.Time            // when its last event was
}

// livingIn reads all machines of a project.
func livingIn(root string) ([]*traces, error) {
	names, err := Branches(root)
	if err != nil {
		return nil, err
	}
	var list []*traces
	for _, name := range append([]string{""}, names...) {
		m, err := trace(At(root, name).Dir())
		if err != nil {
			where := cmp.Or(name, "the project")
			return nil, &Refusal{Code: CodeOf(refusal(err)), Message: fmt.Sprintf("what %s still needs cannot be known: %v", where, err),
				Remedy: "nothing was removed; ferrus doctor says what ails it", Person: true}
		}
		m.branch = name
		list = append(list, m)
	}
	return list, nil
}

// removal is how the name of a removed branch ends, after the @: when that was.
const removal = "20060102T150405.000"

// removedIn reads the machines of removed branches. One that cannot be read is left alone.
func removedIn(root string) ([]*traces, error) {
	dir := filepath.Join(root, home, archived)
	names, err := Folders(dir)
	var list []*traces
	for _, name := range names {
		if strings.HasPrefix(name, going) {
			list = append(list, &traces{dir: filepath.Join(dir, name), branch: strings.TrimPrefix(name, going)})
			continue
		}
		if m, err := trace(filepath.Join(dir, name)); err == nil && !m.last.IsZero() {
			m.branch = name
			_, stamp, _ := strings.Cut(name, "@")
			if at, err := time.Parse(removal, stamp); err == nil && at.After(m.last) {
				m.last = at
			}
			list = append(list, m)
		}
	}
	return list, err
}

// trace reads a machine's journal, and its archive, which may have tasks of a journal that was lost.
func trace(dir string) (*traces, error) {
	s, err := store.Open(dir, store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	m := &traces{dir: dir, tasks: map[string]time.Time{}, merges: map[uint64]time.Time{}}
	names, err := Folders(filepath.Join(dir, "archive"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if at, ok := began(name); ok { // no other is ours
			m.tasks[name] = at
			if l, err := LastEvent(filepath.Join(dir, "archive", name)); err == nil {
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
		if l.State.Returning == (state.Returning{}) {
			open = 0
		}
		m.tasks[cmp.Or(id, m.present)] = l.At // a reset is the end of the task before it
		m.present, m.last = id, l.At
	}
	delete(m.tasks, "")
	delete(m.merges, open)
	return m, nil
}

// began is the time in the id of a task.
func began(task string) (time.Time, bool) {
	const layout = "t-20060102-150405"
	at, err := time.Parse(layout, task[:min(len(layout), len(task))])
	return at, err == nil
}

// files are the files that a machine has of a task beside its journal.
func (m *traces) files(task string) []string {
	var list []string
	for _, name := range []string{"logs/" + task + "-*", "logs/agent-" + task + "-*", "runs/" + task + ".jsonl", "archive/" + task} {
		found, _ := filepath.Glob(filepath.Join(plainGlob(m.dir), filepath.FromSlash(name)))
		list = append(list, found...)
	}
	return list
}

var plainGlob = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace

// LastEvent returns the newest event of a task from the folder of its archive.
func LastEvent(dir string) (*store.Line, error) {
	path := filepath.Join(dir, "journal.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimRight(text, "\n")
	var l store.Line
	if err := json.Unmarshal(text[bytes.LastIndexByte(text, '\n')+1:], &l); err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	return &l, nil
}

// Folders returns the names of the folders in dir, sorted; none where there is no dir.
func Folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// sizeOf is what files and folders have in bytes.
func sizeOf(paths []string) (sum int64, err error) {
	for _, path := range paths {
		err = errors.Join(err, filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				var info fs.FileInfo
				if info, err = e.Info(); err == nil {
					sum += info.Size()
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}))
	}
	if err != nil {
		err = fmt.Errorf("what is left of old tasks: %w", err)
	}
	return sum, err
}
