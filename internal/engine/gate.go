package engine

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/engine/checkrun"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A Checked is what became of a check.
type Checked struct {
	store.Snapshot
	ID       string
	Status   state.CheckStatus
	Failures []checks.Command
	Changed  []string // paths that changed while it ran, when Status is CheckMoved
	Clean    bool     // it ran in a checkout of its own: then it was its own commands that changed them
	Err      string   // why the gate could not run, when Status is CheckGateError
	Asked    bool     // ferrus has asked a person by a rule, because this keeps happening
	Rule     string   // the rule by which ferrus acted after the verdict; "" where none did

	touched string // what was written while it ran, though the tree is the same
	wrote   checkrun.Written
}

// A job is one run of the gate. It belongs to task, epoch and check id, not to the call that started it: a client that
// gives up waiting does not end it.
type job struct {
	session *Session
	task    string
	epoch   uint64
	done    chan struct{} // closed when the outcome is committed, or lost
	cancel  context.CancelFunc

	at          checkrun.Site // where it runs
	moved       []string      // files that its commands changed there, if that is a checkout of its own
	unpublished string        // why its tree did not get to the git remote; "" if it did

	mu       sync.Mutex
	run      *checks.Job // nil until the commands run
	returned bool        // a call has returned the outcome

	before, after *worktree.Sight // of the newest two fingerprints

	// Set before done is closed.
	out Checked
	err error
}

// Check runs the gate on the work tree, or joins the run that is going on, and waits for at most wait. A status of
// CheckRunning says that the call may be made again; the run goes on.
func (s *Session) Check(ctx context.Context, wait time.Duration) (Checked, error) {
	snap, err := s.e.View()
	if err != nil {
		return Checked{}, err
	}
	// A run that nobody has been told of comes first: its outcome may itself have ended the task, or paused it.
	if !s.untold(snap) {
		if err := s.verifyClaim(snap, state.CheckStarted); err != nil {
			return Checked{}, err
		}
		if _, err := state.Step(snap.Task, state.CheckStarted, s.As(snap.Task), state.Limits{}); err != nil {
			return Checked{}, refusal.From(err)
		}
	}
	j := s.e.jobFor(s, snap)
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case <-j.done:
		if ctx.Err() != nil { // nobody reads the answer: the outcome is the next call's
			return Checked{}, ctx.Err()
		}
		j.mu.Lock()
		j.returned = true
		j.mu.Unlock()
		out := j.out
		if snap.Task.Seq > out.Task.Seq { // it had ended before this call, and a person may have spoken since
			out.Snapshot = snap
		}
		return out, j.err
	case <-over.C:
		snap, err = s.e.View()
		out := Checked{Snapshot: snap, Status: state.CheckRunning}
		if snap.Task.Check.Status == state.CheckRunning {
			out.ID = snap.Task.Check.ID
		}
		return out, err
	case <-ctx.Done():
		return Checked{}, ctx.Err()
	}
}

// jobFor returns the run that s may join, or a new one: an outcome that no call has returned yet is handed out before
// the gate runs again.
func (e *Engine) jobFor(s *Session, now store.Snapshot) *job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.job != nil && e.job.session.ID == s.ID && e.job.joinable(now) {
		return e.job
	}
	ctx, cancel := context.WithCancel(e.ctx)
	j := &job{session: s, task: now.Task.TaskID, epoch: now.Task.Epoch, done: make(chan struct{}), cancel: cancel}
	e.job = j
	go func() {
		defer cancel()
		j.out, j.err = j.perform(ctx)
		close(j.done)
	}()
	return j
}

// untold reports whether a check of this session runs, or has ended with an outcome that no call has returned yet.
func (s *Session) untold(now store.Snapshot) bool {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	j := s.e.job
	return j != nil && j.session.ID == s.ID && j.joinable(now)
}

// joinable reports whether the run goes on, or has an outcome that nobody has been told and that is still the newest, or
// newer than now: a call that looked before the run ended must not begin another one.
func (j *job) joinable(now store.Snapshot) bool {
	is := now.Task
	if !j.ended() {
		// One that runs for an epoch which is over is being given up.
		return j.task == is.TaskID && j.epoch == is.Epoch
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	was := j.out.Task
	return !j.returned && j.err == nil && was.TaskID == is.TaskID && was.Epoch == is.Epoch &&
		(was.Seq > is.Seq || was.Check.ID == is.Check.ID && was.State == is.State)
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func (j *job) stop() {
	j.cancel()
	j.mu.Lock()
	run := j.run
	j.mu.Unlock()
	if run != nil {
		run.Stop()
	}
}

// perform runs the gate from fingerprint to verdict.
func (j *job) perform(ctx context.Context) (Checked, error) {
	began, err := j.begin(ctx)
	if err != nil {
		return Checked{}, err
	}
	published := j.session.e.publishCheck(ctx, began)
	res, err := j.execute(ctx, began)
	j.unpublished = published() // before the line of the outcome
	if err != nil {
		return Checked{}, err
	}
	return j.settle(ctx, began, res)
}

// begin commits that the check runs, and on which tree.
func (j *job) begin(ctx context.Context) (store.Snapshot, error) {
	s, e := j.session, j.session.e
	now, err := e.View()
	if err != nil {
		return now, err
	}
	if err := e.runner.Await(ctx); err != nil {
		return now, err
	}
	tree, err := j.look(ctx, now)
	if err != nil {
		return now, err
	}
	// Each run is its own: a run that was lost is not the same request as the next.
	began, err := s.commit(ctx, checking(tree, uuid.NewString()))
	return began.Snapshot, err
}

// look is fingerprint, and remembers what the file system says of the files.
func (j *job) look(ctx context.Context, now store.Snapshot) (string, error) {
	tree, err := j.session.e.Tree(ctx, now)
	if err != nil {
		return "", err
	}
	id, seen, err := tree.Look(ctx)
	if err != nil {
		return "", refusal.Git(err)
	}
	j.before, j.after = j.after, seen
	return id, nil
}

// checking is the beginning of a check of a tree.
func checking(tree, arg string) transition {
	return transition{event: state.CheckStarted, arg: arg, apply: func(_ store.Snapshot, next *state.Task) {
		next.Issued.Checks++
		id := "k" + strconv.Itoa(next.Issued.Checks)
		next.Check = state.Check{ID: id, Status: state.CheckRunning, Tree: tree, Gate: next.Pin.SHA256,
			Log: "logs/" + next.TaskID + "-" + id + ".log", Errors: next.Check.Errors, Same: next.Check.Same, Sum: next.Check.Sum,
			Moved: next.Check.Moved, Written: next.Check.Written, Tracked: next.Check.Tracked}
	}}
}

// execute runs the commands and gives them up when the task or the epoch is no longer theirs.
func (j *job) execute(ctx context.Context, began store.Snapshot) (checks.Result, error) {
	e := j.session.e
	gate, err := e.Gate(began)
	if err != nil {
		return checks.Result{}, err
	}
	watch := e.store.Watch() // armed before the run begins, which may take a while
	defer watch.Close()
	on := checkrun.Target{Task: began.Task.TaskID, Tree: began.Task.Check.Tree, Base: began.Task.SetUpOn()}
	spec, err := e.runner.Spec(began, gate, began.Task.Check.Log, on)
	if err != nil {
		return checks.Result{}, err
	}
	on.Env = spec.Environ
	at, err := e.runner.Prepare(ctx, began, gate, on)
	if ctx.Err() != nil {
		return checks.Result{}, ctx.Err()
	}
	if err != nil {
		return checkrun.NoPlace(err), nil
	}
	defer at.Release()
	j.at = at
	run, err := checks.Start(checkrun.WithPorts(at.On(spec)))
	if err != nil {
		return checks.Result{Status: checks.GateError, Err: err.Error()}, nil
	}
	j.mu.Lock()
	j.run = run
	j.mu.Unlock()
	for {
		select {
		case <-run.Done():
			res := run.Result()
			if res.Status == checks.Passed {
				if j.moved, err = at.Changed(); err != nil {
					return checks.Result{Status: checks.GateError, Err: err.Error()}, nil
				}
			}
			return res, nil
		case <-ctx.Done():
			run.Stop()
			return checks.Result{}, ctx.Err()
		case <-watch.C:
			now, err := e.store.View()
			if err == nil && !current(now, began) || refusal.CodeOf(err) == refusal.StoreGone {
				run.Stop()
				<-run.Done() // no call waits longer for it than it may
				return checks.Result{}, j.session.explain(j.stale(now, err))
			}
		}
	}
}

// current reports whether the check that began is still the task's own.
func current(now, began store.Snapshot) bool {
	return now.Task.TaskID == began.Task.TaskID && now.Task.Epoch == began.Task.Epoch &&
		now.Task.Check.ID == began.Task.Check.ID && now.Task.Check.Status == state.CheckRunning
}

// stale is why a check that is no longer the task's own counts for nothing. Like checkHolder it reads no file.
func (j *job) stale(now store.Snapshot, err error) error {
	if err != nil {
		return refusal.From(err)
	}
	if err := j.session.checkHolder(now, state.CheckStarted); err != nil {
		return err
	}
	return &refusal.RefusedError{Code: refusal.WrongState, Message: fmt.Sprintf("the check ended too late: the task is %s now", now.Task.State),
		Remedy: "call status"}
}

// fingerprint names the task's work tree as it is, "" without git.
func (e *Engine) fingerprint(ctx context.Context, snap store.Snapshot) (string, error) {
	tree, err := e.Tree(ctx, snap)
	if err != nil {
		return "", err
	}
	id, err := tree.Fingerprint(ctx)
	if err != nil {
		return "", refusal.Git(err)
	}
	return id, nil
}

// workDir is the folder that is worked on. It follows from where the machine is: what the journal says may be of a project
// that was moved or copied, or of somebody else's.
func (e *Engine) workDir(store.Snapshot) string { return e.place.Work }

// here returns a snapshot whose task is worked on where the engine works. In a database the task names no folder.
func (e *Engine) here(snap store.Snapshot) store.Snapshot {
	if snap.Task.Worktree != "" || e.published.Shared() && snap.Task.TaskID != "" {
		snap.Task.Worktree = e.workDir(snap)
	}
	return snap
}
