package schedule

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// StepOptions configure a step.
type StepOptions struct {
	Parallel int           // on how many branches agents may work at a time; at least 1
	Caller   engine.Caller // the person on whose behalf branches are made and merged
	Engine   engine.Options
	Runs     run.Place

	// Conduct returns the options of a task's conductor.
	Conduct func(e *engine.Engine) (conductor.Options, error)
	// Ready refuses to start an agent for a task; may be nil.
	Ready func(ctx context.Context, e *engine.Engine) error
	// Tick returns the options with which a pipeline is advanced. An error skips it.
	Tick func(ctx context.Context, f *run.Folder) (run.Options, error)

	order func([]*act) // of carrying out, for tests; nil for the usual one
}

// A Kind says what a decision is about.
type Kind string

const (
	Task     Kind = "task"     // that of the project
	Branch   Kind = "branch"   // the task of a branch
	Merge    Kind = "merge"    // of a branch into the project
	Queue    Kind = "queue"    // a task that waited becomes a branch
	Pipeline Kind = "pipeline" // a run
)

// A Decision is what a step has decided about something, and what became of it.
type Decision struct {
	Kind  Kind        `json:"kind"`
	Name  string      `json:"name,omitempty"` // of the branch or run
	State state.State `json:"state,omitempty"`
	Do    string      `json:"do"`
	Duty  string      `json:"duty,omitempty"`
	Run   string      `json:"run,omitempty"` // the agent that was started
	Why   string      `json:"why,omitempty"`
	Until time.Time   `json:"until,omitzero"` // when to look again at the latest; zero: when something changes
	Error string      `json:"error,omitempty"`

	Err error `json:"-"`
}

func (d *Decision) fail(err error) {
	if err != nil {
		d.Err, d.Error = err, err.Error()
	}
}

// An act is a decision that is yet to be carried out.
type act struct {
	Decision
	do    func(context.Context, *Decision)
	close func() // lets others work on it; called once
}

// A machine is the task of the project or of a branch.
type machine struct {
	name string // "" for the project
	e    *engine.Engine
	turn *conductor.Turn // nil where nothing is decided
	act  *act            // nil for a delegate that nobody waits for and nobody works on

	unwanted bool // it is a delegate that nobody waits for
}

// Step makes one decision about each task and each pipeline of a project, carries it out, and returns. The error is a
// *conductor.BusyError if another step, or run --parallel, is at work, or an error of the project; errors of single tasks are in
// their decisions.
func Step(ctx context.Context, root string, opts StepOptions) ([]Decision, error) {
	lock, err := conductor.Hold(Dir(root))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	e, err := engine.Open(project.At(root, ""), opts.Engine)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	s := &step{StepOptions: opts, e: e, s: e.Session(opts.Caller), engines: map[string]*engine.Engine{"": e}}
	defer func() { _ = s.close() }()
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	if opts.order != nil {
		opts.order(s.acts)
	}
	for _, a := range s.acts {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if a.do != nil {
			a.do(ctx, &a.Decision)
		}
		a.free()
	}
	return s.decisions(), nil
}

// A step is one run of Step. First it gathers the facts about all tasks and pipelines and decides. Then it carries the decisions out.
// No decision sees what another one of the same step has done, so their order does not matter, except where they share something:
// free places are taken in the order of names, and at most one branch is merged. The agents that a step starts outlive it.
type step struct {
	StepOptions
	e        *engine.Engine
	s        *engine.Session
	engines  map[string]*engine.Engine // by branch, "" for the project
	machines []*machine
	acts     []*act // in the order of carrying out
	taken    []Decision
}

func (a *act) free() {
	if a.close != nil {
		a.close()
		a.close = nil
	}
}

// look gathers all facts and makes all decisions.
func (s *step) look(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	runs, err := s.Runs.Names()
	if err != nil {
		return err
	}
	unsettled := map[string]error{}
	for name, e := range s.engines {
		if err := s.settle(ctx, e); err != nil {
			unsettled[name] = err
		}
	}
	if err := s.open(); err != nil { // the delegates that were made
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.engines)) {
		m := s.machine(ctx, name, s.engines[name])
		if m.act != nil {
			m.act.fail(unsettled[name])
		}
		s.machines = append(s.machines, m)
	}
	for _, name := range runs {
		if a := s.pipeline(ctx, name); a != nil {
			s.acts = append(s.acts, a)
		}
	}
	return s.share()
}

// share plans what the tasks share, and lists their acts.
func (s *step) share() error {
	f := facts{parallel: s.Parallel, queue: true, once: true}
	if err := f.readMerges(s.e); err != nil {
		return err
	}
	acts, tried := map[string]*machine{}, s.readRefused()
	for _, m := range s.machines {
		acts[m.name] = m
		var now store.Snapshot
		var err error
		if m.turn != nil {
			now = m.turn.Snapshot
		} else {
			now, err = m.e.View()
		}
		switch {
		case err != nil: // its decision says so
		case m.name == "":
			f.own = now.Task
		default:
			f.branches = append(f.branches, m.fact(now.Task, tried[m.name]))
		}
	}
	list, err := Queued(s.e.Place().Dir())
	if err != nil {
		s.tell(Decision{Kind: Queue, Do: skip}, err) // the good ones are taken all the same
	}
	f.waiting = list
	if f.tasks, err = branch.LookAt(s.e, list, nil); err != nil {
		return err
	}
	merged := ""
	var shared []*act
	for _, d := range plan(f) {
		m := acts[d.name]
		switch {
		case d.do == take:
			shared = append(shared, &act{Decision: Decision{Kind: Queue, Do: take}, do: func(ctx context.Context, _ *Decision) { s.take(ctx, d.items, d.places) }})
		case d.do == record:
			shared = append(shared, &act{Decision: Decision{Kind: Queue, Do: record}, do: func(context.Context, *Decision) { recordNeeds(s.e, *d.item, f.tasks.IDs) }})
		case d.do == wait && d.item != nil:
			s.tell(Decision{Kind: Queue, Name: d.name, Do: wait, Why: d.why}, nil)
		case d.do == merge:
			merged = d.name
			shared = append(shared, &act{Decision: Decision{Kind: Merge, Name: d.name, Do: merge}, do: func(ctx context.Context, of *Decision) { s.merge(ctx, of) }})
		case d.do == wait:
			m.turn.Postpone(d.why)
			m.act.Do, m.act.Duty, m.act.Why = string(m.turn.Act.Do), string(m.turn.Act.Duty), d.why
		case d.do == hold:
			m.act.Why = "not merged: " + d.why
		}
	}
	for _, m := range s.machines {
		if m.act == nil {
			continue
		}
		if merged != "" && (m.name == "" || m.name == merged) && m.act.Err == nil {
			m.act.do, m.act.Do, m.act.Duty, m.act.Why = nil, merge, "", merged+" is merged into the project"
		}
		if m.act.State != state.Idle || m.act.Err != nil {
			s.acts = append(s.acts, m.act)
		} else {
			defer m.act.free()
		}
	}
	s.acts = append(s.acts, shared...)
	return nil
}

// fact is what the plan has to know about a branch.
func (m *machine) fact(t state.Task, tried refused) fact {
	b := fact{name: m.name, task: t, refused: tried, unwanted: m.unwanted}
	switch {
	case m.unwanted:
		b.works = m.act != nil
	case m.turn != nil:
		b.works, b.starts = m.turn.Busy(), m.turn.Starts()
	default:
		b.works = m.act.Err == nil // a run works on it
		b.conducted = b.works
	}
	return b
}

// machine decides about a task.
func (s *step) machine(ctx context.Context, name string, e *engine.Engine) *machine {
	m := &machine{name: name, e: e, act: &act{Decision: Decision{Kind: Branch, Name: name, Do: skip}}}
	if name == "" {
		m.act.Kind = Task
	}
	opts, err := s.Conduct(e)
	wanted := false
	if err == nil {
		wanted, err = s.relate(ctx, e, &opts)
	}
	if err == nil && !wanted {
		m.act, m.unwanted = s.dismiss(name, e), true
		return m
	}
	started := ""
	opts.Tell = func(ev conductor.Event) {
		if ev.Kind == conductor.Started {
			started = ev.Run
		}
	}
	if err == nil {
		m.turn, err = conductor.Look(e, opts)
	}
	var busy *conductor.BusyError
	if errors.As(err, &busy) {
		m.act.Why = busy.Error()
		if now, err := e.View(); err == nil {
			m.act.State = now.Task.State
		}
		return m
	}
	if err != nil {
		m.act.fail(err)
		return m
	}
	t := m.turn
	m.act.State, m.act.Do, m.act.Duty, m.act.Why, m.act.Until = t.Task.State, string(t.Act.Do), string(t.Act.Duty), t.Act.Why, t.Act.Until
	m.act.close = func() { _ = t.Close() }
	m.act.do = func(ctx context.Context, d *Decision) {
		if t.Starts() && s.Ready != nil {
			if err := s.Ready(ctx, e); err != nil {
				d.fail(err)
				return
			}
		}
		d.fail(t.Take(ctx))
		d.Run = started
	}
	return m
}

// pipeline decides about a run; nil for one that has ended meanwhile.
func (s *step) pipeline(ctx context.Context, name string) *act {
	a := &act{Decision: Decision{Kind: Pipeline, Name: name, Do: skip}}
	f, err := s.Runs.Open(name)
	var o run.Options
	if err == nil {
		o, err = s.Tick(ctx, f)
	}
	var t *run.Turn
	if err == nil {
		t, err = f.Look(ctx, o)
	}
	if errors.Is(err, run.ErrGone) {
		return nil
	}
	if err != nil {
		a.fail(err)
		return a
	}
	a.Do, a.Why, a.Until = string(t.Action.Do), t.Action.String(), t.Action.Until
	a.close = func() { _ = t.Close() }
	a.do = func(ctx context.Context, d *Decision) { d.fail(t.Take(ctx)) }
	return a
}

// decisions are those of the step: the tasks, the merge and the pipelines by name, those of the queue in its order.
func (s *step) decisions() []Decision {
	list := append([]Decision{}, s.taken...)
	for _, a := range s.acts {
		if a.Kind != Queue {
			list = append(list, a.Decision)
		}
	}
	return sorted(list)
}
