// Package fleet runs many tasks at a time: the unfinished branches of a project, and the tasks of
// the queue, each of which becomes a branch. Each task has a conductor, agents and a work tree of
// its own.
//
// A fleet is stateless and level-triggered, like a conductor. It reads the branches and the queue,
// starts what may start, waits for a change or a deadline, and reads again. In memory it stores
// only which attempts to skip until something changes. You can kill it at any point, and the next
// one continues from the files.
//
// internal/conductor drives the single task, internal/queue owns the files of the queue.
package fleet

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

// Options say how.
type Options struct {
	Parallel int           // how many tasks at a time; at least 1
	Caller   engine.Caller // the person on whose behalf branches are made and merged
	Engine   engine.Options
	Tell     func(Event)   // what happens, as it happens; one at a time
	Every    time.Duration // how often to look; half a second when zero

	// Conduct says how the conductor of a branch is to work. Its Tell may be called from many at a time.
	Conduct func(branch string, e *engine.Engine) (conductor.Options, error)
}

// An Event is something that happens to a branch, beside what its conductor tells.
type Event struct {
	Branch string    `json:"branch,omitempty"`
	Kind   EventKind `json:"kind"`
	Text   string    `json:"text,omitempty"`
}

// An EventKind says what an Event is about.
type EventKind string

const (
	Taken    EventKind = "taken"    // a task of the queue has become a branch
	Begun    EventKind = "begun"    // a conductor
	Left     EventKind = "left"     // a conductor, that of a task which is over or waits for a person
	Merging  EventKind = "merging"  // approved work is being brought into the project
	Merged   EventKind = "merged"   // it is there; the text says so where it changed no file
	Unmerged EventKind = "unmerged" // it does not fit, or not now; a person is needed
	Trouble  EventKind = "trouble"  // what goes wrong without being of the task
)

// A BranchStatus is how a branch stands when the fleet has done what it can.
type BranchStatus struct {
	engine.Attempt
	Unmerged string `json:"unmerged,omitempty"` // why approved work is not merged that is to be
	Clashes  bool   `json:"clashes,omitempty"`  // it does not fit the project, and its executor can be given both
	Trouble  string `json:"trouble,omitempty"`  // why its conductor could not work
}

// An Outcome is how a run of the fleet ended.
type Outcome struct {
	Tasks []BranchStatus
	Exit  int // exit code: 0 all are complete, 1 one failed or went wrong, 3 nothing to do, 6 a person is waited for
}

// Dir is where the lock of the one fleet of a project lies, as hq.Conductor takes it.
func Dir(root string) string { return filepath.Join(engine.At(root, "").Dir(), "parallel") }

// Run sees the tasks of a project through until all are over or wait for a person. The error is a *hq.BusyError where
// another fleet is at work, hq.ErrStopped when ctx has ended, or one of the project.
func Run(ctx context.Context, root string, opts Options) (Outcome, error) {
	lock, err := conductor.Hold(Dir(root))
	if err != nil {
		return Outcome{}, err
	}
	defer lock.Close()
	e, err := engine.Open(engine.At(root, ""), opts.Engine)
	if err != nil {
		return Outcome{}, err
	}
	defer e.Close()
	if opts.Every == 0 {
		opts.Every = time.Second / 2
	}
	f := &fleet{Options: opts, e: e, s: e.Session(opts.Caller), ended: make(chan ended), busy: map[string]bool{}, left: map[string]left{}, refused: map[string]refused{}, told: map[string]bool{}, untaken: map[string]string{}}
	return f.run(ctx)
}

// A fleet is one run. All but the work itself happens in one goroutine.
type fleet struct {
	Options
	e *engine.Engine
	s *engine.Session

	ended   chan ended
	busy    map[string]bool    // branches that are conducted or merged by us now
	merging string             // the one that is merged, "" for none
	left    map[string]left    // how conductors have left
	refused map[string]refused // what could not be merged
	told    map[string]bool    // troubles
	untaken map[string]string  // tasks of the queue that could not be taken: another try needs another text, or another run
}

// Left is how a conductor has left a branch: there is nothing more to do before the machine has moved on from there.
type left struct {
	seq uint64
	err error
}

// Refused is a merge that could not be, of this entry of the branch into that one of the project.
type refused struct {
	branch, project uint64
	why             string
	clash           bool
}

// ended is the end of work on a branch.
type ended struct {
	branch string
	merged bool // it was a merge
	out    conductor.Outcome
	got    engine.Merged
	err    error
}

func (f *fleet) run(ctx context.Context) (Outcome, error) {
	for {
		err := f.look(ctx)
		if err != nil || ctx.Err() != nil {
			for len(f.busy) > 0 {
				f.end(<-f.ended)
			}
			if err == nil {
				err = conductor.ErrStopped
			}
			return Outcome{}, err
		}
		if len(f.busy) == 0 {
			return f.outcome(ctx)
		}
		select {
		case done := <-f.ended:
			f.end(done)
		case <-time.After(f.Every):
		case <-ctx.Done():
		}
	}
}

// look starts what may be started.
func (f *fleet) look(ctx context.Context) error {
	names, err := engine.Branches(f.e.Place().Root)
	if err != nil {
		return err
	}
	if f.free() {
		for _, a := range f.waiting(names) {
			if !f.free() {
				break
			}
			f.conduct(ctx, a)
		}
	}
	for f.free() {
		name, err := f.take(ctx)
		if err != nil {
			return err
		}
		if name == "" {
			break
		}
		f.conduct(ctx, name)
	}
	return f.merge(ctx, names)
}

// free reports whether another task may be conducted.
func (f *fleet) free() bool {
	n := len(f.busy)
	if f.merging != "" {
		n--
	}
	return n < f.Parallel
}

// waiting are the branches whose task could go on and is conducted by nobody.
func (f *fleet) waiting(names []string) (list []string) {
	for _, name := range names {
		if f.busy[name] {
			continue
		}
		now, err := f.view(name)
		if err != nil {
			f.trouble(name, err)
			continue
		}
		t := now.Task
		if was, ok := f.left[name]; ok && was.seq == t.Seq || !t.Underway() || t.State == state.AwaitingHuman {
			continue
		}
		if _, busy := conductor.Conductor(engine.At(f.e.Place().Root, name).Dir()); !busy {
			list = append(list, name)
		}
	}
	return list
}

// conduct has a branch conducted.
func (f *fleet) conduct(ctx context.Context, name string) {
	f.busy[name] = true
	f.Tell(Event{Branch: name, Kind: Begun})
	go func() {
		out, err := f.conducted(ctx, name)
		f.ended <- ended{branch: name, out: out, err: err}
	}()
}

func (f *fleet) conducted(ctx context.Context, name string) (conductor.Outcome, error) {
	e, err := f.e.Branched(name)
	if err != nil {
		return conductor.Outcome{}, err
	}
	defer e.Close()
	opts, err := f.Conduct(name, e)
	if err != nil {
		return conductor.Outcome{}, err
	}
	return conductor.Run(ctx, e, opts)
}

// end notes how work on a branch has ended.
func (f *fleet) end(done ended) {
	delete(f.busy, done.branch)
	if done.merged {
		f.mergeEnded(done)
		return
	}
	l := left{seq: done.out.Task.Seq, err: done.err}
	if done.err != nil {
		if errors.Is(done.err, conductor.ErrStopped) {
			return
		}
		if now, err := f.view(done.branch); err == nil {
			l.seq = now.Task.Seq
		}
		f.trouble(done.branch, done.err)
	} else {
		f.Tell(Event{Branch: done.branch, Kind: Left, Text: string(done.out.Task.State)})
	}
	f.left[done.branch] = l
}

// trouble tells what goes wrong, once.
func (f *fleet) trouble(name string, err error) {
	if key := name + "\x00" + err.Error(); !f.told[key] {
		f.told[key] = true
		f.Tell(Event{Branch: name, Kind: Trouble, Text: err.Error()})
	}
}
