// Package engine raises the events of a task: the CLI, the MCP tools and the web page all call it.
//
// It knows the facts that the machine does not: who holds the lease, what the checks said, which tree is submitted,
// what a reviewer was shown. It picks the event that fits the facts, asks state.Step, and has the store commit the
// result. Slow work (git, checks, waiting) is done outside the store's lock and is believed only if task, epoch and
// check are still the ones it was done for.
//
// It starts no agent and knows no tool and no pipeline: internal/conductor, internal/tools and internal/cli call it.
//
// Start reading at engine.go.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/engine/publish"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// An Engine works on one machine, for any number of sessions. Close it.
type Engine struct {
	place  project.Place
	store  store.Machine
	shared bool                             // the machine was in a database when it was opened
	probe  func(session string) lease.Probe // the store's: whether a session lives
	opts   Options

	settings *project.Settings
	runner   *checkrun.Runner
	log      *slog.Logger
	ctx      context.Context // ends with Close
	end      context.CancelFunc

	mu          sync.Mutex
	job         *job // the check that this process runs or ran last
	trees       map[string]*worktree.Tree
	differences handover.Memory

	settled atomic.Uint64 // the newest entry after which no rule was found due

	saves     *snapshots.Queue
	published *publish.Trees
	shown     handover.Shown

	origin  *project.Judge // nil without Options.Project
	foreign error          // of state that is only looked at; nil for ours
}

// Options are for tests and for programs that open an engine; the zero value is right for a server.
type Options struct {
	Now   func() time.Time     // wall clock, for display; time.Now when nil
	Clock func() lease.Instant // by which terms of leases and silences are measured; the store's clock when nil
	Log   *slog.Logger         // slog.Default when nil

	// Environ is the environment, NAME=value, of the person whose command this is; nil in a server. What decides what a
	// program is is frozen from it with a task.
	Environ []string

	// Rest is how long Close waits for files that are being kept; 10 s when zero. A client kills a server that does not end
	// at once, and then an entry is without files of its own.
	Rest time.Duration

	// Project is the record of the project. Nil: the caller answers for what the project's files make run, as tests of
	// lower packages do. The command line and the server always set it.
	Project *trust.Project

	// Look opens state that was not made here for reading, which writes nothing: Foreign says so. Without it the error of
	// Open is a *project.ForeignError.
	Look bool
}

// Open opens the machine at a place that Find has found.
func Open(place project.Place, opts Options) (*Engine, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Rest == 0 {
		opts.Rest = 10 * time.Second
	}
	if err := place.CheckFolders(); err != nil {
		return nil, err
	}
	disk := project.StoreOptions{Backup: place.Backup, Now: opts.Now, Log: opts.Log}
	var o *project.Judge
	var strange error
	if opts.Project != nil {
		o = project.NewJudge(context.Background(), place, opts.Project, opts.Now())
		disk.Judge, disk.Begin = o.Journal, o.Begin
		if opts.Look {
			strange = project.Foreign(context.Background(), place, opts.Project)
			disk.ReadOnly = strange != nil
			disk.Judge = nil
		} else if err := o.CheckFolders(); err != nil {
			return nil, err
		}
	}
	shared := place.InDatabase()
	s, err := place.Open(disk)
	if err != nil {
		return nil, err
	}
	if o != nil && !opts.Look && place.InDatabase() {
		if err := o.Machine(s); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if opts.Clock == nil {
		opts.Clock = s.Clock
	}
	e := &Engine{place: place, store: s, shared: shared, probe: s.Probe, opts: opts, log: opts.Log,
		trees: map[string]*worktree.Tree{}, origin: o, foreign: strange}
	e.saves = snapshots.NewQueue()
	e.settings = project.NewSettings(place.Root, s, project.SettingsOptions{Project: opts.Project, Environ: opts.Environ, Log: opts.Log})
	e.published = publish.New(place, s, e.settings.Person, opts.Log)
	e.runner = checkrun.New(place, s, e.Environment, e.Copies)
	e.ctx, e.end = context.WithCancel(context.Background())
	return e, nil
}

// Close ends the engine: a running check's processes are killed first. Nothing is written, for nothing needs writing.
func (e *Engine) Close() error {
	e.end()
	e.mu.Lock()
	j := e.job
	e.mu.Unlock()
	if j != nil {
		j.stop()
		select {
		case <-j.done:
		case <-time.After(stopLimit):
		}
	}
	e.saves.Rest(e.opts.Rest)
	e.markLast()
	return e.store.Close()
}

// stopLimit bounds how long Close waits for a check to let go: clients kill a server that does not end at once.
const stopLimit = 200 * time.Millisecond

// Project returns the record of the project; nil when the caller answers for it.
func (e *Engine) Project() *trust.Project { return e.opts.Project }

// Foreign returns why the state is only looked at: a *project.ForeignError, or nil for state of this machine.
func (e *Engine) Foreign() error { return e.foreign }

// Place returns where the engine works.
func (e *Engine) Place() project.Place { return e.place }

// Store returns the engine's store, for reading.
func (e *Engine) Store() store.Machine { return e.store }

// View returns the machine as it is.
func (e *Engine) View() (store.Snapshot, error) {
	if err := e.ours(); err != nil {
		return store.Snapshot{}, err
	}
	snap, err := e.store.View()
	if err != nil {
		return snap, err
	}
	return e.here(snap), nil
}

// Gone reports whether the machine is no longer where it was opened, as its folder was lost, or the project was moved; every call is then refused with StoreGone.
func (e *Engine) Gone() bool { return !e.store.InPlace() || e.place.InDatabase() != e.shared }

// Tree returns the work tree of the task, or of the place when there is no task.
func (e *Engine) Tree(ctx context.Context, snap store.Snapshot) (*worktree.Tree, error) {
	gate, err := e.Gate(snap)
	if err != nil {
		return nil, err
	}
	dir := e.workDir(snap)
	key := dir + "\x00" + string(gate.Encode())
	e.mu.Lock()
	tree, ok := e.trees[key]
	e.mu.Unlock()
	if ok && tree.Current() {
		return tree, nil
	}
	if err := e.place.Here(); err != nil {
		return nil, err
	}
	tree, err = worktree.Open(ctx, dir, e.place.Path("git"), worktree.Options{Root: e.place.Root, State: e.opts.Project.StatDir(), Ignore: gate.Checks.Ignore})
	if err != nil {
		return nil, &refusal.RefusedError{Code: refusal.StoreError, Message: err.Error(), Remedy: "check the git repository, then try again"}
	}
	if !tree.Git() && snap.Task.BaseTree != "" {
		// Without git a verdict is bound to nothing: a process that can move .git away must not gain that.
		return nil, &refusal.RefusedError{Code: refusal.StoreError, Message: "the task began in a git repository, and there is none at " + dir + " now",
			Remedy: "put .git back, and see that git is on PATH, then try again"}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trees[key] = tree
	return tree, nil
}

// Config returns ferrus.toml as it is now, with the person's own configuration laid over it. When a file is broken it
// returns the last ferrus.toml that was valid, or the defaults, together with the error.
func (e *Engine) Config() (config.Config, error) { return e.settings.Config() }

// Gate returns the checks and limits of the task: those frozen with it, or those of ferrus.toml when there is no task.
func (e *Engine) Gate(snap store.Snapshot) (config.Gate, error) { return e.settings.Gate(snap) }

// Environ returns the variables that are frozen with the task; nil without a task, and for one that an older ferrus made.
func (e *Engine) Environ(snap store.Snapshot) (proc.Frozen, error) {
	return e.settings.Environ(snap)
}

// Environment is what the task's commands run with, NAME=value.
func (e *Engine) Environment(snap store.Snapshot) ([]string, error) {
	return e.settings.Environment(snap)
}

// RecordEnviron records the environment of a person's command, for tasks that agents make. Where it cannot, those have
// that of the last time.
func (e *Engine) RecordEnviron() { e.settings.RecordEnviron() }
