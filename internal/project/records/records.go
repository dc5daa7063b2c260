// Package records reads what the agents of a project have used: the record of each run, of present and archived tasks, of branches,
// removed branches and pipelines, and of what ferrus gc removed. From it follow the sums of ferrus usage, and whether the limits of a day
// are used up.
//
// The truth is the records that shims write (package process). Of what ferrus gc removes, [Keep] keeps a line. A project in a database has the
// records of all its computers there.
//
// Start reading at records.go.
package records

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Run is an agent that was started, in numbers. Of one at work, they are those so far.
type Run struct {
	Project string // its root, as [ReadAll] says it; else ""
	Branch  string // "" for the project's own task, and for a pipeline
	Task    string // its id; of a pipeline, the name of its run
	Name    string // such as executor-2
	Role    string // its duty; of a pipeline, the role of the worker
	Agent   string
	Model   string // "" for the agent's own choice
	Started time.Time
	Time    time.Duration
	Usage   agents.Usage

	over bool
}

// Options say which runs are read.
type Options struct {
	Since time.Time // those that started then or later; zero for all
	Now   time.Time // of the minutes of those at work
	Here  bool      // only those of this computer
	Index bool      // writes an index of the records, by which the next call reads each of them no more
}

// Read returns the runs of a project, in no order. Agents that could not be started are none. The error is a *refusal.RefusedError.
func Read(ctx context.Context, root string, o Options) ([]Run, error) {
	place := project.At(root, "")
	home, err := place.OpenHome()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	s := scan{Options: o, home: home}
	if o.Since.IsZero() { // else few are newer
		s.index = project.OpenIndex(home, indexFile)
	}
	err = s.project(root)
	if err == nil && place.InDatabase() && !o.Here {
		err = s.database(ctx, place)
	}
	if err != nil {
		return nil, refusal.Because(refusal.StoreError, "read what the agents of "+root+" used", err, "ferrus doctor{branch} says what ails the project")
	}
	if o.Index {
		s.index.Save()
	}
	return s.runs, nil
}

// indexFile is a file in .ferrus with the runs of each record. It may be deleted: it is made again.
const indexFile = "usage.index"

// A scan is one reading of the records of a project.
type scan struct {
	Options
	home  *rootfs.Root
	index *project.Index // nil for none
	runs  []Run
}

// add adds the runs of a list that count.
func (s *scan) add(list ...Run) {
	if len(s.runs)+len(list) > cap(s.runs) { // twice as many: they are large
		s.runs = slices.Grow(s.runs, max(len(list), len(s.runs)))
	}
	for _, r := range list {
		if !r.Started.Before(s.Since) {
			s.runs = append(s.runs, r)
		}
	}
}

// of is the run of a record that this computer or another one wrote; false for an agent that was not started.
func of(branch, task string, r process.Run) (Run, bool) {
	is := Run{Branch: branch, Task: task, Name: r.Name, Role: string(r.Duty), Agent: r.Agent, Model: r.Model, Usage: r.Usage, over: r.Over()}
	is.Started = r.Started
	if !r.Launched.IsZero() { // it was held before
		is.Started = r.Launched
	}
	is.Started = is.Started.Truncate(time.Millisecond).UTC()
	is.Time = max(0, r.Ended.Truncate(time.Millisecond).Sub(is.Started))
	return is, r.Began()
}

// unended completes the run of a record without an end: its agent works, or its shim was killed. Then it ended with its last output, as
// [process.Settle] will say.
func (s *scan) unended(is Run, r process.Run, slot process.Slot) Run {
	until := s.Now
	if o, taken := slot.Taken(); !taken || o.Run != r.Name && o.Run != "" {
		until = r.Started
		if info, err := r.LogInfo(); err == nil {
			until = info.ModTime()
		}
	}
	is.Usage, is.Time = process.Read(r).Usage, max(0, until.Sub(is.Started))
	return is
}

// database adds the runs that the database has and this computer has not.
func (s *scan) database(ctx context.Context, place project.Place) error {
	at, err := place.Shared()
	if err != nil {
		return err
	}
	if at == nil {
		return fmt.Errorf("the record of the project does not say which database has it: %w", fs.ErrNotExist)
	}
	d, err := at.Database(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	rows, err := d.ProjectRuns(ctx, at.Project, s.Since)
	if err != nil {
		return err
	}
	type key struct{ branch, task, name string }
	type start struct {
		key
		at time.Time
	}
	mine, starts := map[key]bool{}, map[start]bool{}
	for _, r := range s.runs {
		k := key{r.Branch, r.Task, r.Name}
		mine[k], starts[start{k, r.Started}] = true, true
	}
	for _, row := range rows {
		r, err := process.ReadPortable(row.Line)
		if err != nil {
			continue // ferrus writes only lines that it can read
		}
		is, began := of(row.Branch, row.Task, r)
		k := key{row.Branch, row.Task, r.Name}
		switch {
		case !began, row.Here && (mine[k] || !row.Over), starts[start{k, is.Started}]: // its file says more, or it was never started
			continue
		case !row.Over && row.Alive:
			is.Time = max(0, s.Now.Sub(is.Started))
		}
		s.add(is)
	}
	return nil
}

// A Spend is what agents used.
type Spend struct {
	Runs  int
	Time  time.Duration
	Usage agents.Usage
}

// Plus returns the sum of both.
func (s Spend) Plus(more Spend) Spend {
	return Spend{s.Runs + more.Runs, s.Time + more.Time, s.Usage.Plus(more.Usage)}
}

// MarshalJSON writes the time as seconds.
func (s Spend) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Runs    int          `json:"runs"`
		Seconds float64      `json:"seconds"`
		Usage   agents.Usage `json:"usage"`
	}{s.Runs, s.Time.Seconds(), s.Usage})
}

// SpendOf returns the sum of the runs of a list that began.
func SpendOf(runs []process.Run, now time.Time) Spend {
	var s Spend
	for _, r := range runs {
		if r.Began() {
			s = s.Plus(Spend{1, r.Lasted(now), r.Usage})
		}
	}
	return s
}
