package status

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// An overview is a project at a glance.
type overview struct {
	Root      string              `json:"root"`
	Machines  []machine           `json:"machines"` // the project's own first, then the branches
	Pipelines []status.RunSummary `json:"pipelines"`
	Queue     []status.QueuedTask `json:"queue"`
	Runs      []string            `json:"archived_runs"` // of pipelines, newest first
	Archived  []Archived          `json:"archived"`      // newest first
	More      int                 `json:"more"`          // archived tasks that are not shown

	finished []status.RunLine // the runs in a line each
}

// A machine is the task of the project or of a branch in a line.
type machine struct {
	Branch  string        `json:"branch,omitempty"`
	TaskID  string        `json:"task_id,omitempty"`
	Title   string        `json:"title,omitempty"`
	State   state.State   `json:"state,omitempty"`
	Since   time.Time     `json:"since,omitzero"`
	Waiting state.Waiting `json:"waiting,omitzero"`
	Holder  string        `json:"holder,omitempty"`
	Error   string        `json:"error,omitempty"` // why it cannot be read

	words string // who is waited for
}

// An Archived is a task that is over, in a line.
type Archived struct {
	Branch  string      `json:"branch,omitempty"`
	Removed bool        `json:"removed,omitempty"` // the branch is no more
	TaskID  string      `json:"task_id"`
	Title   string      `json:"title,omitempty"`
	State   state.State `json:"state,omitempty"` // in which it ended; an unfinished one was abandoned
	At      time.Time   `json:"at,omitzero"`     // when
	Error   string      `json:"error,omitempty"` // why it cannot be read
}

// Outcome is how the task ended, in words.
func (t Archived) Outcome() string {
	switch {
	case t.Error != "":
		return "unreadable"
	case t.State == state.Complete || t.State == state.Failed:
		return string(t.State)
	}
	return "abandoned"
}

func statusAll(a *cli.App, ctx context.Context, newest int) error {
	place, err := a.Place(ctx)
	if err != nil {
		return err
	}
	v, err := Survey(a, place.Root, newest)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(v)
	}
	ShowOverview(a, v)
	return nil
}

// Survey looks at everything in a project. What cannot be read is said so in its line; the rest is shown all the same.
func Survey(a *cli.App, root string, newest int) (*overview, error) {
	own := project.At(root, "")
	v := &overview{Root: root, Pipelines: []status.RunSummary{}, Queue: status.Queue(own.Dir()), Runs: []string{}, Archived: []Archived{}}
	names, err := project.Branches(root)
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{""}, names...) {
		p := project.At(root, name)
		m, err := machineAt(a, p, v, newest)
		if err != nil {
			m.Error = cli.Explain(err).Message
		}
		v.Machines = append(v.Machines, m)
		past, err := archivedIn(p.Dir(), m.TaskID)
		if err != nil {
			return nil, err
		}
		for _, t := range past {
			t.Branch = name
			v.Archived = append(v.Archived, t)
		}
	}
	past, err := archivedOfRemoved(filepath.Join(own.Dir(), "archive", "branches"))
	if err != nil {
		return nil, err
	}
	v.Archived = append(v.Archived, past...)
	slices.SortFunc(v.Archived, newestFirst)
	if n := len(v.Archived) - newest; n > 0 {
		v.Archived, v.More = v.Archived[:newest], n
	}
	for _, r := range v.finished {
		v.Runs = append(v.Runs, r.Run)
	}
	return v, nil
}

// machineAt reads the state of a machine, and from the project's own also the active pipelines and the newest archived runs.
func machineAt(a *cli.App, p project.Place, v *overview, newest int) (machine, error) {
	m := machine{Branch: p.Branch}
	e, err := a.OpenToReadAt(p)
	if err != nil {
		return m, err
	}
	defer e.Close()
	if p.Branch == "" {
		a.WarnForeign(e.Foreign())
		v.Pipelines = append(v.Pipelines, status.RunningPipelines(e)...)
		v.finished = status.ArchivedRuns(e, newest)
	}
	r, err := status.Read(e)
	if err != nil {
		return m, err
	}
	m.TaskID, m.Title, m.State, m.Since, m.Waiting, m.words = r.TaskID, r.Title, r.State, r.Since, r.Waiting, r.WaitText()
	if r.Holder != nil {
		m.Holder = r.Holder.Agent
	}
	return m, nil
}

// newestFirst compares tasks by the time at which they ended, which ids know by the second only.
func newestFirst(a, b Archived) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.TaskID, a.TaskID), cmp.Compare(a.Branch, b.Branch))
}

// archivedIn are the archived tasks of the machine in dir but for the present one, which has been archived too if it was taken
// up again.
func archivedIn(dir, present string) ([]Archived, error) {
	dir = filepath.Join(dir, "archive")
	names, err := project.Folders(dir)
	var list []Archived
	for _, name := range names {
		if !strings.HasPrefix(name, "t-") || name == present {
			continue // what upstream ferrus left is no task of ours, nor are removed branches
		}
		t := Archived{TaskID: name}
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
func archivedOfRemoved(dir string) ([]Archived, error) {
	names, err := project.Folders(dir)
	var list []Archived
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
