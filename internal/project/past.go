package project

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// PastTask looks up a task that branches have had, removed ones too: the newest of id, or for "" the newest of any id. of says which branches may have had
// it. It returns the task as its newest line has it, the zero one where there is none. What is not a task any more has no later lines: one that was reset
// is as it was before.
func PastTask(root string, of func(branch string) bool, id string) (state.Task, error) {
	if at := At(root, ""); at.InDatabase() {
		shared, err := at.Shared()
		if err != nil {
			return state.Task{}, err
		}
		d, err := shared.Database(context.Background(), nil)
		if err != nil {
			return state.Task{}, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if t, err := d.PastTask(ctx, shared.Project, of, id); err != nil || t.TaskID != "" {
			return t, err
		}
	}
	home, err := rootfs.OpenBelow(At(root, "").Dir(), DirName, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return state.Task{}, nil
	}
	if err != nil {
		return state.Task{}, err
	}
	defer home.Close()
	var dirs []string // the newest last: a branch that is there is newer than all that were removed
	for _, at := range []string{ArchivedBranches, "branches"} {
		names, err := FoldersIn(home, at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return state.Task{}, err
		}
		names = slices.DeleteFunc(names, func(name string) bool { branch, _, _ := strings.Cut(name, "@"); return !of(branch) })
		slices.SortStableFunc(names, func(a, b string) int {
			_, one, _ := strings.Cut(a, "@")
			_, other, _ := strings.Cut(b, "@")
			return strings.Compare(one, other)
		})
		for _, name := range names {
			dirs = append(dirs, at+"/"+name)
		}
	}
	for _, dir := range slices.Backward(dirs) {
		if t, err := pastIn(home, dir, id); t.TaskID != "" || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return t, err
		}
	}
	return state.Task{}, nil
}

// pastIn is PastTask for one folder of a branch. The newest line is enough for the newest task.
func pastIn(home *rootfs.Root, dir, id string) (state.Task, error) {
	is := func(l *store.Line) bool { return l.State.TaskID != "" && (id == "" || l.State.TaskID == id) }
	if l, err := LastEventIn(home, dir); err == nil && is(l) {
		return l.State, nil
	}
	var found state.Task
	err := JournalIn(home, dir, func(raw []byte) error {
		var l store.Line
		if json.Unmarshal(raw, &l) == nil && is(&l) { // ferrus doctor says which line cannot be read
			found = l.State
		}
		return nil
	})
	return found, err
}

// JournalIn calls do with each line of the journal in a folder below a root, from the first one on. The error is the first of do, or of reading.
func JournalIn(root *rootfs.Root, dir string, do func(raw []byte) error) error {
	f, err := root.Open(path.Join(dir, "journal.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, store.MaxLine+1)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
