package status

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// An Overview is a whole project at a glance: what needs a person, and each task, run of a pipeline and archived task in a line.
type Overview struct {
	Root      string         `json:"root"`
	Needs     []Need         `json:"needs_you"` // the one that waits longest first
	Machines  []Machine      `json:"machines"`  // the project's own first, then the branches
	Pipelines []RunSummary   `json:"pipelines"`
	Queue     []QueuedTask   `json:"queue"`
	Runs      []string       `json:"archived_runs"` // of pipelines, newest first
	Archived  []ArchivedTask `json:"archived"`      // newest first
	More      int            `json:"more"`          // archived tasks that are not shown

	Finished []RunLine `json:"-"` // the archived runs in a line each
	Busy     error     `json:"-"` // a task could not be read because another process has its lock; nil when all could
	Foreign  error     `json:"-"` // why the project's state is only shown; nil when it was made here
	Acts     []Act     `json:"-"` // that are about the project and no task

	Today records.Spend `json:"-"` // what its agents of today have used, where it was asked for
}

// A Group is the part of an overview in which a task stands.
type Group string

// The groups.
const (
	NeedsYou Group = "needs"   // it waits for a person
	AtWork   Group = "work"    // agents work on it
	Waiting  Group = "waiting" // it waits for something else
	Done     Group = "done"    // it has ended
	Idle     Group = "idle"    // there is no task
)

// A Machine is the task of the project or of a branch in a line.
type Machine struct {
	Branch  string         `json:"branch,omitempty"`
	Parent  *state.Parent  `json:"parent,omitempty"` // of a delegate: whose
	TaskID  string         `json:"task_id,omitempty"`
	Title   string         `json:"title,omitempty"`
	State   state.State    `json:"state,omitempty"`
	Group   Group          `json:"group,omitempty"`
	Since   time.Time      `json:"since,omitzero"`
	Waiting state.Waiting  `json:"waiting,omitzero"`
	Waits   string         `json:"waits,omitempty"` // who is waited for, in words
	Holder  string         `json:"holder,omitempty"`
	Node    string         `json:"node,omitempty"`   // the other computer that conducts it
	Agents  []AgentReport  `json:"agents,omitempty"` // that a run has started and that live
	Checks  Budget         `json:"checks,omitzero"`
	Reviews Budget         `json:"reviews,omitzero"`
	Size    *worktree.Size `json:"size,omitempty"` // of its change; nil when it was not asked for or is not known
	Score   *float64       `json:"score,omitempty"`
	Skipped []string       `json:"skipped,omitempty"` // which files were not read for Size, and why
	Spent   records.Spend  `json:"spent,omitzero"`
	Merged  bool           `json:"merged,omitempty"`
	Error   string         `json:"error,omitempty"` // why it cannot be read
}

// Options say how an overview is read.
type Options struct {
	Open   func(project.Place) (*engine.Engine, error) // opens a machine for reading
	Newest int                                         // so many archived tasks
	Sizes  bool                                        // with the size of each change and whether it can be merged: git is asked
	Merges bool                                        // with whether approved work can be merged, where Sizes is not wanted
	Today  bool                                        // with what the agents of today have used
}

// ReadOverview looks at everything in a project. What cannot be read is said so in its line; the rest is shown all the same.
func ReadOverview(ctx context.Context, root string, o Options) (*Overview, error) {
	own := project.At(root, "")
	v := &Overview{Root: root, Needs: []Need{}, Pipelines: []RunSummary{}, Runs: []string{}, Archived: []ArchivedTask{}}
	places, err := project.Survey(ctx, root)
	if err != nil {
		return nil, err
	}
	v.read(ctx, places[0], o) // the project's own, which says whose the others are
	if v.Queue == nil {       // it cannot be opened
		v.Queue = Queue(own.Dir(), nil)
	}
	v.readAll(ctx, places[1:], o)
	var names []string
	for _, p := range places[1:] {
		names = append(names, p.Branch)
	}
	if err := v.archives(); err != nil {
		return nil, err
	}
	slices.SortFunc(v.Archived, newestFirst)
	if n := len(v.Archived) - o.Newest; n > 0 {
		v.Archived, v.More = v.Archived[:o.Newest], n
	}
	for _, r := range v.Finished {
		v.Runs = append(v.Runs, r.Run)
	}
	v.unchosen(names)
	v.dayNeed(ctx)
	if o.Today && v.Foreign == nil {
		from, _ := records.DayOf(time.Now())
		runs, _ := records.Read(ctx, root, records.Options{Since: from, Now: time.Now()}) // ferrus usage says what cannot be read
		v.Today = records.Sum(runs).Spend
	}
	slices.SortStableFunc(v.Needs, func(a, b Need) int { return a.Since.Compare(b.Since) })
	return v, nil
}

// readAll reads machines of branches, as many at once as there are processors: it waits for git most of the time.
func (v *Overview) readAll(ctx context.Context, places []project.Place, o Options) {
	parts := make([]Overview, len(places))
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range places {
		readers.Go(func() error {
			parts[i].Foreign = v.Foreign
			parts[i].read(ctx, p, o)
			return nil
		})
	}
	_ = readers.Wait() // each says itself why it cannot be read
	for _, p := range parts {
		v.Needs, v.Machines, v.Busy = append(v.Needs, p.Needs...), append(v.Machines, p.Machines...), cmp.Or(p.Busy, v.Busy)
	}
}

// read adds a machine and what it needs. One that cannot be read says why.
func (v *Overview) read(ctx context.Context, p project.Place, o Options) {
	m, err := v.machine(ctx, p, o)
	if err != nil {
		if refusal.CodeOf(err) == refusal.LockBusy {
			v.Busy = err
		}
		m.Error, m.Group = explained(err), NeedsYou
		v.Needs = append(v.Needs, unreadable(m))
	}
	v.Machines = append(v.Machines, m)
}

// explained is an error with its remedy, in a line.
func explained(err error) string {
	var r *refusal.RefusedError
	if errors.As(err, &r) {
		return r.Message
	}
	return err.Error()
}

// machine reads a machine, and from the project's own also the active pipelines and the newest archived runs.
func (v *Overview) machine(ctx context.Context, p project.Place, o Options) (Machine, error) {
	m := Machine{Branch: p.Branch}
	e, err := o.Open(p)
	if err != nil {
		return m, err
	}
	defer e.Close()
	if p.Branch == "" {
		v.Foreign, v.Queue = e.Foreign(), QueueAt(e)
		for _, t := range v.Queue {
			if n, ok := t.blocked(); ok {
				v.Needs = append(v.Needs, n)
			}
		}
		v.Pipelines = append(v.Pipelines, RunningPipelines(e)...)
		v.Finished = ArchivedRuns(e, o.Newest)
		if n, ok := untrusted(e.Trusted()); ok {
			v.Needs = append(v.Needs, n)
		}
		for _, run := range v.Pipelines {
			v.Needs = append(v.Needs, run.questionNeeds()...)
			if n, ok := run.need(); ok {
				v.Needs = append(v.Needs, n)
			}
		}
	}
	r, err := Read(e)
	if err != nil {
		return m, err
	}
	m.fill(r)
	if p.Branch == "" {
		v.Acts = projectActs(r)
	}
	if o.Sizes && r.TaskID != "" && v.Foreign == nil {
		if err := m.measure(ctx, e, r); err != nil {
			return m, err
		}
	}
	if o.Merges && v.Foreign == nil {
		if err := r.mergesCleanly(ctx, e); err != nil {
			return m, err
		}
	}
	needs := r.Needs()
	v.Needs = append(v.Needs, needs...)
	m.Group = groupOf(r, needs)
	return m, nil
}

// fill takes over what a report says in a line.
func (m *Machine) fill(r *Report) {
	m.Node, m.TaskID, m.Title, m.State, m.Since, m.Waiting, m.Waits = r.Node, r.TaskID, r.Title, r.State, r.Since, r.Waiting, r.WaitText()
	m.Agents, m.Reviews, m.Spent, m.Merged = r.Agents, r.Reviews, r.Spent, r.merged
	if r.part() {
		m.Parent = &r.parent
	}
	if r.Holder != nil {
		m.Holder = r.Holder.Agent
	}
	if r.Check != nil {
		m.Checks = Budget{r.Check.Used, r.Check.Max}
	}
}

// measure asks git for the size of the change, and whether an approved one can be merged.
func (m *Machine) measure(ctx context.Context, e *engine.Engine, r *Report) error {
	look := branch.Measured(ctx, e)
	if look.Error != "" {
		return nil // the project may be in no repository; ferrus diff says why there is none
	}
	m.Size, m.Score, m.Skipped, r.size = &look.Size, look.Score, look.Skipped, &look.Size
	return r.mergesCleanly(ctx, e)
}

// mergesCleanly looks up whether approved work that is not merged conflicts with the project.
func (r *Report) mergesCleanly(ctx context.Context, e *engine.Engine) (err error) {
	if r.mergeable() {
		r.conflicts, err = branch.Conflicts(ctx, e)
	}
	return err
}

// groupOf says in which part of an overview a task stands.
func groupOf(r *Report, needs []Need) Group {
	switch {
	case len(needs) > 0:
		return NeedsYou
	case r.State == state.Idle:
		return Idle
	case r.State.Over():
		return Done
	case len(r.Agents) > 0 || r.Holder != nil && !r.Holder.Dead || r.Check != nil && r.Waiting.For == "check":
		return AtWork
	}
	return Waiting
}

// unchosen replaces what each of several approved attempts at one task needs by one choice.
func (v *Overview) unchosen(names []string) {
	tasks := map[string]Machine{}
	for _, m := range v.Machines {
		tasks[m.Branch] = m
	}
	var kept []Need
	asked := map[string]bool{}
	for _, n := range v.Needs {
		if n.Kind != NeedMerge && n.Kind != NeedConflict {
			kept = append(kept, n)
			continue
		}
		group := branch.Group(names, n.Branch)
		underway := slices.ContainsFunc(group, func(name string) bool {
			t := tasks[name]
			return name != n.Branch && t.TaskID != "" && !t.State.Over()
		})
		approved := slices.DeleteFunc(slices.Clone(group), func(name string) bool { return tasks[name].State != state.Complete || tasks[name].Merged })
		switch {
		case underway:
			continue // it waits for the other attempts
		case len(approved) < 2:
			kept = append(kept, n)
		case !asked[approved[0]]:
			asked[approved[0]] = true
			kept = append(kept, choose(n, approved, tasks))
		}
	}
	v.Needs = append([]Need{}, kept...)
}
