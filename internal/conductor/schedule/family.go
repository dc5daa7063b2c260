package schedule

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// TaskOptions configure [RunTask].
type TaskOptions struct {
	conductor.Options

	// TellOf is called for each event of the conductor of a delegate, by its branch; from several goroutines, and may be nil.
	TellOf func(branch string, e conductor.Event)
}

// RunTask is conductor.Run for a task and its delegates. It returns when the conductor of the task does; those of the delegates, and
// their agents, have ended then. After opts.Until it waits for those that still work.
func RunTask(ctx context.Context, e *engine.Engine, opts TaskOptions) (conductor.Outcome, error) {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := &family{TaskOptions: opts, e: e, ended: make(chan delegateEnded), late: make(chan struct{}), running: map[string]*running{}}
	own, show := opts.Options, opts.Show
	own.Others = f.others
	var begun sync.Once
	over := make(chan struct{})
	beside, leave := context.WithCancel(ctx)
	defer leave()
	own.Show = func(v conductor.View) { // its first call says that this is the one conductor of the task
		begun.Do(func() {
			go func() {
				defer close(over)
				f.run(beside)
			}()
		})
		if show != nil {
			show(v)
		}
	}
	out, err := conductor.Run(ctx, e, own)
	if err == nil && out.Exit == conductor.ExitLate {
		close(f.late)
	} else {
		leave()
	}
	begun.Do(func() { close(over) })
	<-over
	return out, err
}

// A family is one run of a task with its delegates: a conductor for the task, and one for each open delegate. It settles what the
// journal asks for (package delegate), starts the conductors that are missing, ends those of delegates that are not open, and waits
// for a change. Everything but the conductors, and what they ask for, happens in one goroutine.
type family struct {
	TaskOptions
	e        *engine.Engine
	ended    chan delegateEnded
	late     chan struct{}       // closed when the conductor of the task has ended, and those of the delegates go on
	running  map[string]*running // by the id of the delegate
	reported string              // the last reported trouble

	mu    sync.Mutex               // several conductors ask for what was used
	tails map[string]*process.Tail // output of the agents of delegates
	known map[string][]process.Run // the runs of each delegate when they were last read
}

// A running is the conductor of a delegate.
type running struct {
	stop context.CancelFunc
	left uint64 // the entry of the delegate at which its conductor had nothing left to do; 0 while it runs
}

// A delegateEnded is the end of a conductor.
type delegateEnded struct {
	id  string
	out conductor.Outcome
	err error
}

func (f *family) run(ctx context.Context) {
	watch := f.e.Store().Watch()
	defer watch.Close()
	late := f.late
	for ctx.Err() == nil && (late != nil || f.busy()) {
		if err := f.pass(ctx); err != nil && ctx.Err() == nil && err.Error() != f.reported {
			f.reported = err.Error()
			f.Log.Warn("the delegates of the task", "error", err)
		}
		select {
		case done := <-f.ended:
			f.end(ctx, done)
		case <-watch.C:
		case <-late:
			late = nil
		case <-ctx.Done():
		}
	}
	for f.busy() {
		done := <-f.ended
		f.running[done.id].left = 1
	}
}

func (f *family) busy() bool {
	for _, r := range f.running {
		if r.left == 0 {
			return true
		}
	}
	return false
}

// pass settles what there is to settle, and starts and stops conductors.
func (f *family) pass(ctx context.Context) error {
	if err := delegate.Settle(ctx, f.e, nil); err != nil {
		return err
	}
	list, err := delegate.Children(ctx, f.e)
	if err != nil {
		return err
	}
	now, children := facts{parallel: len(list)}, map[string]delegate.Child{}
	for _, c := range list {
		if !c.Open() || c.Phase == delegate.Unmade || c.Phase == delegate.Gone || c.Phase == delegate.Stopped {
			continue
		}
		children[c.ID] = c
		b := fact{name: c.ID, task: c.Snap.Task}
		r := f.running[c.ID]
		if b.works = r != nil && r.left == 0; !b.works && (r == nil || r.left != c.Snap.Task.Seq) {
			_, busy := conductor.Conductor(project.At(f.e.Place().Root, c.Branch).Dir())
			b.starts = !busy
		}
		now.branches = append(now.branches, b)
	}
	for id, r := range f.running {
		if _, open := children[id]; !open {
			now.branches = append(now.branches, fact{name: id, works: r.left == 0, unwanted: true})
		}
	}
	for _, d := range plan(now) {
		switch d.do {
		case start:
			f.start(ctx, children[d.name])
		case end:
			f.running[d.name].stop()
		}
	}
	return nil
}

// start starts the conductor of a delegate.
func (f *family) start(ctx context.Context, c delegate.Child) {
	ctx, stop := context.WithCancel(ctx)
	f.running[c.ID] = &running{stop: stop}
	go func() {
		defer stop()
		out, err := f.conduct(ctx, c)
		f.ended <- delegateEnded{c.ID, out, err}
	}()
}

func (f *family) conduct(ctx context.Context, c delegate.Child) (conductor.Outcome, error) {
	b, err := delegate.Open(f.e, c.Delegate)
	if err != nil {
		return conductor.Outcome{}, err
	}
	defer b.Close()
	opts := f.TaskOptions.Options
	opts.Headless, opts.Show, opts.Hold = true, nil, f.hold
	opts.Tell = func(e conductor.Event) {
		if f.TellOf != nil {
			f.TellOf(c.Branch, e)
		}
	}
	return conductor.Run(ctx, b, opts)
}

// end notes that a conductor has ended. A delegate whose conductor cannot work has failed: nobody waits for it.
func (f *family) end(ctx context.Context, done delegateEnded) {
	r := f.running[done.id]
	r.left = max(1, done.out.Task.Seq)
	var busy *conductor.BusyError
	switch {
	case done.err == nil:
	case errors.As(done.err, &busy), errors.Is(done.err, conductor.ErrStopped), ctx.Err() != nil:
		delete(f.running, done.id) // somebody else conducts it, or it is not open
	default:
		_, err := f.e.EndDelegate(ctx, done.id, state.DelegateFailed, "its agents cannot be started: "+done.err.Error())
		if err != nil && refusal.CodeOf(err) != refusal.WrongState {
			f.Log.Warn("a delegate that cannot work is not ended", "delegate", done.id, "error", err)
		}
	}
}

// EndAll ends every agent of e's task and of its delegates, open or not, and of the delegates of earlier tasks.
func EndAll(ctx context.Context, e *engine.Engine, earlier ...state.Task) error {
	errs := []error{conductor.EndAll(ctx, e)}
	now, err := e.View()
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	list := now.Task.Delegates
	for _, t := range earlier {
		list = append(slices.Clip(list), t.Delegates...)
	}
	for _, d := range list {
		if b, err := delegate.Open(e, d); err == nil {
			errs = append(errs, conductor.EndAll(ctx, b), b.Close())
		}
	}
	return errors.Join(errs...)
}
