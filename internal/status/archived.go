package status

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

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

// archive adds what a machine has archived, but for its present task.
func (v *Overview) archive(p project.Place, present string) error {
	past, err := archivedIn(p.Dir(), present)
	for _, t := range past {
		t.Branch = p.Branch
		v.Archived = append(v.Archived, t)
	}
	return err
}

// archiveOfRemoved adds what removed branches have archived.
func (v *Overview) archiveOfRemoved(dir string) error {
	past, err := archivedOfRemoved(dir)
	v.Archived = append(v.Archived, past...)
	return err
}

// newestFirst compares tasks by the time at which they ended, which ids know by the second only.
func newestFirst(a, b ArchivedTask) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.TaskID, a.TaskID), cmp.Compare(a.Branch, b.Branch))
}

// archivedIn are the archived tasks of the machine in dir but for the present one, which has been archived too if it was taken
// up again.
func archivedIn(dir, present string) ([]ArchivedTask, error) {
	dir = filepath.Join(dir, "archive")
	names, err := project.Folders(dir)
	var list []ArchivedTask
	for _, name := range names {
		if !strings.HasPrefix(name, "t-") || name == present {
			continue // what upstream ferrus left is no task of ours, nor are removed branches
		}
		t := ArchivedTask{TaskID: name}
		if l, err := project.LastEvent(filepath.Join(dir, name)); err != nil {
			t.Error = err.Error()
		} else {
			t.Title, t.State, t.At = l.State.Title, l.To, l.At
		}
		list = append(list, t)
	}
	return list, err
}

// archivedOfRemoved are the archived tasks of removed branches, whose folders, in dir, are called NAME@TIME.
func archivedOfRemoved(dir string) ([]ArchivedTask, error) {
	names, err := project.Folders(dir)
	var list []ArchivedTask
	for _, name := range names {
		branch, _, ok := strings.Cut(name, "@")
		if !ok || strings.HasPrefix(name, ".") {
			continue // ferrus gc is about to remove it
		}
		past, err := archivedIn(filepath.Join(dir, name), "")
		if err != nil {
			return nil, err
		}
		for _, t := range past {
			t.Branch, t.Removed = branch, true
			list = append(list, t)
		}
	}
	return list, err
}
