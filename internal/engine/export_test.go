package engine

import (
	"context"
	"errors"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/handover"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/snapshots"
)

// What only the tests of the package see.

const (
	MaxNote       = maxNote
	MaxReviewed   = maxReviewed
	MaxGateErrors = rules.GateErrors
)

func (e *Engine) Keeper() *snapshots.Queue { return e.saves }
func (e *Engine) Instant() lease.Instant   { return e.opts.Clock() }

func (e *Engine) Fingerprint(ctx context.Context, snap store.Snapshot) (string, error) {
	return e.fingerprint(ctx, snap)
}

func (e *Engine) Packet(ctx context.Context, m AsOf) (handover.Packet, error) {
	return e.packet(ctx, m)
}
func (e *Engine) Present(snap store.Snapshot) store.Snapshot { return e.present(snap) }

func (s *Session) SetEpoch(n uint64)       { s.epoch = n }
func (s *Session) Explain(err error) error { return s.explain(err) }

func (s *Session) HandIn(ctx context.Context, now store.Snapshot, green bool, tree, doc string) (Done, error) {
	return s.handIn(ctx, now, green, tree, doc)
}

// Commit raises an event with documents.
func (s *Session) Commit(ctx context.Context, event state.Event, docs map[state.Doc]string) (Done, error) {
	return s.commit(ctx, transition{event: event, docs: docs})
}

// Decide decides an event, and commits nothing.
func (s *Session) Decide(now store.Snapshot, event state.Event) (*store.Change, error) {
	return s.change(now, transition{event: event}, "")
}

// DecideGreen decides the end of a check that passed, and commits nothing.
func (s *Session) DecideGreen(now store.Snapshot) (*store.Change, error) {
	return s.change(now, (Checked{Status: state.CheckGreen}).act(&job{session: s}, store.Snapshot{}, checks.Result{}), "")
}

// LossOf is how a session that lost the work under an epoch is refused.
func LossOf(epoch uint64) error { return lossError{epoch} }

// LostEpoch is the epoch of such an error, 0 of any other.
func LostEpoch(err error) uint64 {
	var lost lossError
	errors.As(err, &lost)
	return lost.epoch
}

// A Job is a run of the checks.
type Job = job

// NewJob is a run that has not begun.
func NewJob(s *Session, t state.Task) *Job {
	return &job{session: s, task: t.TaskID, epoch: t.Epoch, done: make(chan struct{}), cancel: func() {}}
}

func (e *Engine) SetJob(j *Job)                                  { e.job = j }
func (e *Engine) JobFor(s *Session, now store.Snapshot) *Job     { return e.jobFor(s, now) }
func (s *Session) Untold(now store.Snapshot) bool                { return s.untold(now) }
func (j *job) Done() <-chan struct{}                             { return j.done }
func (j *job) Begin(ctx context.Context) (store.Snapshot, error) { return j.begin(ctx) }

func (j *job) Execute(ctx context.Context, began store.Snapshot) (checks.Result, error) {
	return j.execute(ctx, began)
}

func (j *job) Settle(ctx context.Context, began store.Snapshot, res checks.Result) (Checked, error) {
	return j.settle(ctx, began, res)
}

// End ends a run that never began.
func (j *job) End() { close(j.done) }

// WithStore has the engine use another store, or none, while do runs.
func (e *Engine) WithStore(s store.Machine, do func()) {
	was := e.store
	defer func() { e.store = was }()
	e.store = s
	do()
}

func (e *Engine) RenewOnce(s *Session, epoch uint64, maxSilence time.Duration) bool {
	return e.keep(s, epoch, maxSilence)
}
