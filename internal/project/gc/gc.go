// Package gc finds and removes what ended tasks and removed branches have left: logs, archives and the trees that are saved
// under refs/ferrus. What a living machine may still need is never among it.
package gc

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// A Garbage is what a task that is over, or a branch that was removed, has left in files and kept trees. The journal of a
// living machine is none of it.
type Garbage struct {
	Branch string    `json:"branch,omitempty"`  // whose it is; "" for the project's own
	TaskID string    `json:"task_id,omitempty"` // Unassigned for what was kept between tasks, "" for all of a removed branch
	Ended  time.Time `json:"ended,omitzero"`    // zero for a removed branch of which a part is gone
	Refs   int       `json:"refs"`              // trees kept under refs/ferrus
	Bytes  int64     `json:"bytes"`             // of the files

	kept  []string // the names of trees, and those above them
	paths []string // below .ferrus, with slashes
}

// Find finds what can go in a project because it ended before a time: tasks, oldest first, then removed branches. A task
// that any living machine has now, or one in the queue needs, is never among it. What is saved in the repository and belongs to no task of a journal here
// may be another project's, and is left. The error is a *refusal.RefusedError when a living machine cannot be read: nobody knows then what
// it still needs.
func Find(ctx context.Context, root string, before time.Time) ([]Garbage, error) {
	place := project.At(root, "")
	if err := place.CheckFolders(); err != nil {
		return nil, err
	}
	home, err := place.OpenHome()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	living, removed, kept, err := usages(ctx, home, root)
	if err != nil {
		return nil, err
	}
	needed, err := needed(place.Dir())
	if err != nil {
		return nil, err
	}
	var list []Garbage
	for _, m := range living {
		for task, ended := range m.tasks {
			if ended.Before(before) && !needed[task] && !slices.ContainsFunc(living, func(other *usage) bool { return other.present == task }) {
				l := Garbage{Branch: m.branch, TaskID: task, Ended: ended, paths: m.files(home, task)}
				l.take(kept, path.Join(m.branch, task))
				list = append(list, l)
			}
		}
		list = append(list, m.idleSnapshots(kept, before))
	}
	list = slices.DeleteFunc(list, func(l Garbage) bool { return len(l.kept)+len(l.paths) == 0 })
	slices.SortFunc(list, func(a, b Garbage) int { return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.TaskID, b.TaskID)) })
	for _, m := range removed {
		if m.last.Before(before) && !m.knowsAny(needed) {
			l := Garbage{Branch: m.branch, Ended: m.last, paths: []string{m.dir}}
			l.takeRemoved(kept, living, m)
			list = append(list, l)
		}
	}
	for i, l := range list {
		if list[i].Bytes, err = home.Size(l.paths...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// needed are the ids of tasks that others in the queue need: what became of them is still asked.
func needed(home string) (map[string]bool, error) {
	list, err := queue.Peek(home)
	ids := map[string]bool{}
	for _, it := range list {
		for _, n := range it.Needs {
			for _, id := range n.IDs {
				ids[id] = true
			}
		}
	}
	if invalid := (*queue.InvalidError)(nil); errors.As(err, &invalid) { // it is no task
		err = nil
	}
	return ids, err
}

func (m *usage) knowsAny(tasks map[string]bool) bool {
	for task := range m.tasks {
		if tasks[task] {
			return true
		}
	}
	return false
}

// take takes what is saved below a name.
func (l *Garbage) take(kept []string, under string) {
	if n := len(below(kept, under)); n > 0 {
		l.Refs += n
		l.kept = append(l.kept, under)
	}
}

// takeRemoved takes what is saved of a removed branch: under its name of now, and, if its removal was cut off, under that
// which it had, unless a living branch has it and the task.
func (l *Garbage) takeRemoved(kept []string, living []*usage, m *usage) {
	had, _, renamed := strings.Cut(m.branch, "@") // which no branch has in its name
	if !renamed {
		return
	}
	l.take(kept, m.branch)
	for task := range m.tasks {
		if !slices.ContainsFunc(living, func(other *usage) bool { return other.branch == had && !other.tasks[task].IsZero() }) {
			l.take(kept, path.Join(had, task))
		}
	}
}

// idleSnapshots is what a machine has kept while it had no task: the files before each merge. Of others under the same name, which
// another project in the repository may have kept, none is taken.
func (m *usage) idleSnapshots(kept []string, before time.Time) Garbage {
	l := Garbage{Branch: m.branch, TaskID: snapshots.Unassigned}
	for _, name := range below(kept, path.Join(m.branch, snapshots.Unassigned)) {
		number, _, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
		n, _ := snapshots.Entry(number)
		if at := m.merges[n]; !at.IsZero() && at.Before(before) {
			l.kept, l.Refs, l.Ended = append(l.kept, name), l.Refs+1, at
		}
	}
	return l
}

// Sweep removes what was found. If it is killed at any point, the rest is found again: the folder of a removed branch, by which its trees
// are found, goes last, and is out of sight before any of it is gone.
func Sweep(ctx context.Context, root string, l Garbage) error {
	tree, err := project.Repository(ctx, root)
	if err != nil {
		return err
	}
	home, err := project.At(root, "").OpenHome()
	if err != nil {
		return err
	}
	defer home.Close()
	if err := l.remember(root); err != nil {
		return err
	}
	if err := records.Keep(home, l.paths); err != nil {
		return err
	}
	for _, name := range l.kept {
		if _, err := tree.DeleteRefs(ctx, name); err != nil {
			return refusal.Git(err)
		}
	}
	for _, name := range l.paths {
		if l.TaskID == "" {
			name, err = outOfSight(home, name)
		}
		if err == nil {
			err = home.RemoveAll(name)
		}
		if err != nil {
			return &refusal.RefusedError{Code: refusal.StoreError, Message: err.Error(), Remedy: "check whether it can be removed, then try again", Person: true}
		}
	}
	return nil
}

// clearedFile names the tasks that were cleared away, one a line, beside the archives.
const clearedFile = "archive/cleared"

// maxCleared is how much is read of it.
const maxCleared = 64 << 20

// remember notes that a task has been cleared away, so that nobody makes its archive again.
func (l Garbage) remember(root string) error {
	if l.TaskID == "" || l.TaskID == snapshots.Unassigned {
		return nil
	}
	machine, err := project.At(root, l.Branch).OpenDir()
	if err != nil {
		return err
	}
	defer machine.Close()
	f, err := machine.OpenFile(clearedFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return refusal.Folder(err)
	}
	_, err = f.WriteString(l.TaskID + "\n")
	return refusal.Folder(errors.Join(err, f.Close()))
}

// Cleared returns the tasks of the machine at a place that were cleared away.
func Cleared(place project.Place) []string {
	machine, err := place.OpenDir()
	if err != nil {
		return nil
	}
	defer machine.Close()
	text, _ := machine.ReadFile(clearedFile, maxCleared) // where there is none, none were
	return strings.Fields(string(text))
}

func outOfSight(home *rootfs.Root, name string) (string, error) {
	dir, base := path.Split(name)
	if strings.HasPrefix(base, project.RemovingPrefix) {
		return name, nil
	}
	hidden := path.Join(dir, project.RemovingPrefix+base)
	return hidden, home.Rename(name, hidden)
}

// keptIn are the names of all trees that are saved in the repository of a project.
func keptIn(ctx context.Context, root string) ([]string, error) {
	tree, err := project.Repository(ctx, root)
	if err != nil || !tree.Git() {
		return nil, err
	}
	names, err := tree.Refs(ctx, "")
	if err != nil {
		return nil, refusal.Git(err)
	}
	return names, nil
}

// below are the names that lie below another.
func below(names []string, under string) []string {
	var list []string
	for _, name := range names {
		if strings.HasPrefix(name, under+"/") {
			list = append(list, name)
		}
	}
	return list
}
