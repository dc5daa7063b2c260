// Package schedule decides which tasks of a project are worked on, how many at a time, and which approved work is merged next.
//
// Three commands use it. [Run] is "ferrus run --parallel" and "ferrus node": the unfinished branches of a project, and the tasks of
// the queue, each of which becomes a branch. [RunTask] is "ferrus run": a task together with its delegates, parts of it that its
// executor gave to other agents, each on a branch of its own. [Step] is "ferrus step": one decision about each task and each
// pipeline.
//
// All are stateless and level-triggered, like a conductor: they read the branches and the queue, start what may start, wait for a
// change or a deadline, and read again. In memory they store only which attempts to skip until something changes. You can kill
// them at any point, and the next one continues from the files.
//
// internal/conductor drives the single task, internal/pipeline the pipeline, internal/project/queue owns the queue. Start reading
// at plan.go.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Options configure a run of the fleet.
type Options struct {
	Parallel int           // number of tasks at a time; at least 1
	Caller   engine.Caller // the person on whose behalf branches are made and merged
	Engine   engine.Options
	Tell     func(Event)   // called for each event, one at a time
	Every    time.Duration // interval between two passes where nothing tells of changes: in files; half a second when zero

	// Node continues when nothing is left to do, until ctx ends: other computers make tasks for this one. What goes wrong is tried again
	// after Retry. It merges nothing, because the files of the project are those of a person.
	Node  bool
	Retry time.Duration // a minute when zero
	Only  []string      // the branches that it conducts; with none, all of them and the queue

	// Until is when it starts nothing more. What is approved then is merged until Until is over. The conductors are to have it too.
	Until conductor.Until
	Now   func() time.Time // by which it passes; time.Now when nil

	// Conduct returns the options of a branch's conductor. Its Tell may be called from several
	// goroutines at a time.
	Conduct func(branch string, e *engine.Engine) (conductor.Options, error)
	// Follow, if set, gets the log of checks, of a set-up or of a score of a branch that have begun to run: the next event of the branch comes after they
	// have ended. It may be called from several goroutines at a time.
	Follow func(branch, log string)
}

// An Event is something that happens to a branch, besides the events of its conductor.
type Event struct {
	Branch string    `json:"branch,omitempty"`
	Kind   EventKind `json:"kind"`
	Text   string    `json:"text,omitempty"`
	Output string    `json:"output,omitempty"` // the end of what a command of the project printed, where that is why
}

// An EventKind says what an Event is about.
type EventKind string

const (
	Taken    EventKind = "taken"    // a task of the queue has become a branch
	Begun    EventKind = "begun"    // a conductor
	Left     EventKind = "left"     // a conductor, that of a task which is over or waits for a person
	Merging  EventKind = "merging"  // approved work is being brought into the project
	Merged   EventKind = "merged"   // it is there; the text says so where it changed no file
	Scored   EventKind = "scored"   // approved work has a score; the text is the number
	Unmerged EventKind = "unmerged" // it does not fit, or not now; a person is needed
	Unready  EventKind = "blocked"  // a task of the queue needs one that will not be done; a person is needed
	Trouble  EventKind = "trouble"  // what goes wrong without being of the task
)

// A BranchStatus is the state of a branch at the end of a run of the fleet.
type BranchStatus struct {
	branch.Attempt
	Unmerged string `json:"unmerged,omitempty"` // why approved work is not merged that is to be
	Clashes  bool   `json:"clashes,omitempty"`  // it does not fit the project, and its executor can be given both
	Trouble  string `json:"trouble,omitempty"`  // why its conductor could not work
}

// A Blocked task of the queue needs one that will not be done unless a person does something.
type Blocked struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// An Outcome is the result of a run of the fleet.
type Outcome struct {
	Tasks   []BranchStatus
	Blocked []Blocked
	Queued  int // tasks of the queue that Options.Until has left there
	Exit    int // exit code: 0 all complete, 1 at least one failed, 3 nothing to do, 6 waiting for a person, 9 ended by Options.Until
}

// Dir returns the folder of the lock of a project's one fleet, for conductor.Conductor.
func Dir(root string) string { return filepath.Join(project.At(root, "").Dir(), "parallel") }

// Run works on the tasks of a project until all have ended or wait for a person. The error is a
// *conductor.BusyError if another fleet runs, conductor.ErrStopped when ctx has ended, or an error
// of the project.
func Run(ctx context.Context, root string, opts Options) (Outcome, error) {
	lock, err := conductor.Hold(Dir(root))
	if err != nil {
		return Outcome{}, err
	}
	defer lock.Close()
	e, err := engine.Open(project.At(root, ""), opts.Engine)
	if err != nil {
		return Outcome{}, err
	}
	defer e.Close()
	session := uuid.NewString()
	if opts.Node {
		life, err := e.Store().Announce(session) // so that the computer is heard of while it has nothing to do
		if err != nil {
			return Outcome{}, err
		}
		defer life.Close()
	}
	opts.Every, opts.Retry = cmp.Or(opts.Every, time.Second/2), cmp.Or(opts.Retry, time.Minute)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	f := &fleet{Options: opts, session: session, e: e, s: e.Session(opts.Caller), ended: make(chan ended), busy: map[string]bool{}, left: map[string]left{}, refused: map[string]refused{}, reported: map[string]bool{}, untaken: map[string]untaken{}, viewed: map[string]viewed{}}
	return f.run(ctx)
}

// A fleet is one run of many tasks: each has a conductor, agents and a work tree of its own. Everything except the work itself happens in one goroutine.
type fleet struct {
	Options
	e *engine.Engine
	s *engine.Session

	session string // of a node

	ended    chan ended
	busy     map[string]bool    // branches that this fleet conducts or merges now
	merging  string             // the branch that is being merged, "" for none
	left     map[string]left    // results of conductors
	refused  map[string]refused // merges that were refused
	reported map[string]bool    // reported troubles
	untaken  map[string]untaken // tasks of the queue that could not be taken
	tasks    *branch.Tasks      // that those of the queue need, as the newest plan knew them
	blocked  []Blocked          // tasks of the queue of the newest plan
	viewed   map[string]viewed  // the tasks of branches
}

// An untaken is a task of the queue that could not be taken: a retry needs another text, or another run.
type untaken struct {
	item  queue.Item
	work  string    // that it was to begin with
	until time.Time // when it is tried again; zero for not
}

// A left is the result of a branch's conductor: nothing is left to do until the machine changes.
type left struct {
	seq   uint64
	err   error
	until time.Time // when it is tried again; zero for not
}

// An ended is the end of work on a branch.
type ended struct {
	branch string
	merged bool // it was a merge
	out    conductor.Outcome
	got    branch.Merged
	err    error

	score    string // of approved work; "" for none
	unscored error  // why it has none
}

func (f *fleet) run(ctx context.Context) (Outcome, error) {
	changes, err := f.e.Place().Changes(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer changes.Close()
	work, end := f.Until.Context(ctx)
	defer end()
	for {
		if f.Until.Over(f.Now()) {
			end()
		}
		rested := time.After(rest)
		err := f.look(ctx, work, changes)
		if err != nil && f.Node && ctx.Err() == nil {
			f.trouble("", err)
			err = nil
		}
		if err != nil || ctx.Err() != nil {
			for len(f.busy) > 0 {
				f.end(<-f.ended)
			}
			if ctx.Err() != nil {
				err = conductor.ErrStopped
			}
			return Outcome{}, err
		}
		if len(f.busy) == 0 && !f.Node {
			return f.outcome(ctx)
		}
		var again <-chan time.Time
		if changes == nil {
			again = time.After(f.Every)
		}
		select {
		case done := <-f.ended:
			f.end(done)
		case <-changes.C(): // all computers have many
			select {
			case <-rested:
			case <-ctx.Done():
			}
		case <-again:
		case <-ctx.Done():
		}
	}
}

// rest is the least time between two passes that changes of a database cause.
const rest = 100 * time.Millisecond

// look makes one pass: it gathers the facts, plans, and carries that out. work ends with ctx, or when Until is over: then what no conductor ends is cut
// off. changes is nil for machines in files.
func (f *fleet) look(ctx, work context.Context, changes *project.Changes) error {
	if work.Err() != nil {
		return nil
	}
	now, err := f.facts(ctx, changes)
	if err != nil {
		return err
	}
	f.tasks, f.blocked = now.tasks, nil
	for _, d := range plan(now) {
		switch d.do {
		case start:
			f.conduct(ctx, d.name)
		case take:
			f.take(ctx, work, d.items, d.places)
		case record:
			recordNeeds(f.e, *d.item, now.tasks.IDs)
		case wait:
			f.waits(d)
		case merge:
			f.merge(work, d.name)
		case hold:
			if f.refused[d.name].Why != d.why {
				f.refuse(d.name, refused{Why: d.why}) // until the others change
			}
		}
	}
	return nil
}

// waits stores what waits for a person in the queue, and reports it once.
func (f *fleet) waits(d decision) {
	if !d.blocked {
		return
	}
	f.blocked = append(f.blocked, Blocked{d.name, d.why})
	if key := d.name + "\x00" + d.why; !f.reported[key] {
		f.reported[key] = true
		f.Tell(Event{Branch: d.name, Kind: Unready, Text: d.why})
	}
}

// conduct starts a conductor for a branch.
func (f *fleet) conduct(ctx context.Context, name string) {
	f.busy[name] = true
	if !f.Node { // another computer may conduct it
		f.Tell(Event{Branch: name, Kind: Begun})
	}
	go func() {
		done := ended{branch: name}
		f.conducted(ctx, &done)
		f.ended <- done
	}()
}

func (f *fleet) conducted(ctx context.Context, done *ended) {
	e, err := branch.Open(f.e, done.branch)
	if err != nil {
		done.err = err
		return
	}
	defer e.Close()
	ctx = f.following(ctx, done.branch)
	opts, err := f.Conduct(done.branch, e)
	if err != nil {
		done.err = err
		return
	}
	f.note(done.branch, nil)
	if done.out, done.err = RunTask(ctx, e, TaskOptions{Options: opts}); done.err == nil && done.out.Task.State == state.Complete {
		done.score, done.unscored = f.score(ctx, e, done.out.Snapshot)
	}
}

// following is ctx under which Follow gets the logs of commands that run for a branch.
func (f *fleet) following(ctx context.Context, branch string) context.Context {
	if f.Follow == nil {
		return ctx
	}
	return checks.Followed(ctx, func(log string) { f.Follow(branch, log) })
}

// score scores approved work if its gate has a command for that, so that attempts can be compared.
func (f *fleet) score(ctx context.Context, e *engine.Engine, now store.Snapshot) (string, error) {
	gate, err := e.Gate(now)
	if err != nil || gate.Score == "" {
		return "", err
	}
	scored, err := branch.Take(ctx, e.Session(f.Caller))
	if err != nil {
		return "", err
	}
	return strconv.FormatFloat(scored.Task.Score.Value, 'g', -1, 64), nil
}

// end stores how work on a branch has ended.
func (f *fleet) end(done ended) {
	delete(f.busy, done.branch)
	if done.merged {
		f.mergeEnded(done)
		return
	}
	l := left{seq: done.out.Task.Seq, err: done.err}
	if done.err != nil {
		var busy *conductor.BusyError
		if errors.Is(done.err, conductor.ErrStopped) || errors.Is(done.err, conductor.ErrLost) || f.Node && errors.As(done.err, &busy) {
			return
		}
		if f.Node {
			l.until = time.Now().Add(f.Retry)
		}
		f.note(done.branch, done.err)
		if now, err := f.view(done.branch); err == nil {
			l.seq = now.Task.Seq
		}
		f.trouble(done.branch, done.err)
	} else {
		f.Tell(Event{Branch: done.branch, Kind: Left, Text: string(done.out.Task.State)})
	}
	switch {
	case done.unscored != nil && !errors.Is(done.unscored, context.Canceled):
		f.trouble(done.branch, done.unscored)
	case done.score != "":
		f.Tell(Event{Branch: done.branch, Kind: Scored, Text: done.score})
	}
	f.left[done.branch] = l
}

// note tells people on all computers why this node does not work on the task of a branch or of the queue, or with nil that this is over. It is safe for
// concurrent use.
func (f *fleet) note(name string, why error) {
	if !f.Node {
		return // who has started it sees what it tells
	}
	if err := conductor.NoteTrouble(context.Background(), f.e, f.session, name, why); err != nil {
		f.e.Log().Warn("other computers do not see whether this node works on a task", "name", name, "error", err)
	}
}

// trouble reports a problem once.
func (f *fleet) trouble(name string, err error) {
	if key := name + "\x00" + err.Error(); !f.reported[key] {
		f.reported[key] = true
		f.Tell(Event{Branch: name, Kind: Trouble, Text: err.Error(), Output: refusal.OutputOf(err)})
	}
}
