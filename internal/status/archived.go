package status

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// An ArchivedTask is a task that is over, in a line.
type ArchivedTask struct {
	Branch  string      `json:"branch,omitempty"`
	Removed bool        `json:"removed,omitempty"` // the branch is no more
	TaskID  string      `json:"task_id"`
	Title   string      `json:"title,omitempty"`
	State   state.State `json:"state,omitempty"` // in which it ended; an unfinished one was abandoned
	At      time.Time   `json:"at,omitzero"`     // when
	Error   string      `json:"error,omitempty"` // why it cannot be read
}

// Outcome is how the task ended, in words.
func (t ArchivedTask) Outcome() string {
	switch {
	case t.Error != "":
		return "unreadable"
	case t.State == state.Complete || t.State == state.Failed:
		return StateWords(t.State)
	}
	return "abandoned"
}

// archives adds what is archived, but for the tasks that the machines have: a reopened one has been archived, too.
func (v *Overview) archives() error {
	home, err := rootfs.OpenBelow(project.At(v.Root, "").Dir(), project.DirName, 0)
	if err != nil {
		return absent(err)
	}
	defer home.Close()
	present := map[string]string{}
	for _, m := range v.Machines {
		present[m.Branch] = m.TaskID
	}
	return eachArchive(home, func(_, branch string) string { return present[branch] }, func(archive *rootfs.Root, _ string, t ArchivedTask) error {
		if l, err := project.LastEventIn(archive, t.TaskID); err != nil {
			t.Error = err.Error()
		} else {
			t.Title, t.State, t.At = l.State.Title, l.To, l.At
		}
		v.Archived = append(v.Archived, t)
		return nil
	})
}

// newestFirst compares tasks by the time at which they ended, which ids know by the second only.
func newestFirst(a, b ArchivedTask) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.TaskID, a.TaskID), cmp.Compare(a.Branch, b.Branch))
}

// eachArchive calls do for the archive of each task of the project, of its branches, and of those that were removed, whose folders are called
// NAME@TIME. It leaves out the task that present says a machine has, by its folder in .ferrus and its branch.
func eachArchive(home *rootfs.Root, present func(machine, branch string) string, do func(archive *rootfs.Root, dir string, t ArchivedTask) error) error {
	in := func(machine, branch string, removed bool) error {
		at, skip := path.Join(machine, "archive"), ""
		if !removed {
			skip = present(machine, branch)
		}
		archive, err := home.Sub(at)
		if err != nil {
			return absent(err)
		}
		defer archive.Close()
		names, err := project.FoldersIn(archive, ".")
		for _, name := range names {
			if err == nil && strings.HasPrefix(name, "t-") && name != skip { // what upstream ferrus left is no task of ours, nor are removed branches
				err = do(archive, path.Join(at, name), ArchivedTask{TaskID: name, Branch: branch, Removed: removed})
			}
		}
		return err
	}
	err := in(".", "", false)
	for _, of := range []struct {
		dir     string
		removed bool
	}{{"branches", false}, {project.ArchivedBranches, true}} {
		names, listed := project.FoldersIn(home, of.dir)
		err = errors.Join(err, listed)
		for _, name := range names {
			branch, _, dated := strings.Cut(name, "@")
			if dated == of.removed && !strings.HasPrefix(name, ".") { // a draft, or one that ferrus gc is about to remove
				err = errors.Join(err, in(path.Join(of.dir, name), branch, of.removed))
			}
		}
	}
	return err
}

func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
