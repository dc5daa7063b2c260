package engine

import (
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Status is the machine as a reader wants to see it.
type Status struct {
	store.Snapshot
	Waiting state.Waiting
	Gate    config.Gate     // in force
	Differs []config.Change // where ferrus.toml differs from it now
	Broken  string          // why ferrus.toml cannot be read; "" when it can
	Environ []string        // names of this server's variables that are not those frozen with the task
	Holder  string          // how the holder is: "its lease runs", "its process has ended"; "" when nobody holds the work
}

// Status returns the machine as it is now.
func (e *Engine) Status() (Status, error) {
	snap, err := e.View()
	if err != nil {
		return Status{}, err
	}
	return e.StatusOf(snap)
}

// StatusOf returns the status of a snapshot.
func (e *Engine) StatusOf(snap store.Snapshot) (Status, error) {
	snap = e.present(snap)
	st := Status{Snapshot: snap, Waiting: state.WaitingFor(snap.Task)}
	var err error
	if st.Gate, err = e.Gate(snap); err != nil && snap.Task.TaskID != "" {
		return st, err
	}
	conf, err := e.Config()
	if err != nil {
		st.Broken = err.Error()
	} else if snap.Task.TaskID != "" {
		st.Differs = st.Gate.Diff(GateFor(snap.Task, conf))
	}
	st.Environ = e.settings.OtherEnviron(snap)
	if snap.Task.ClaimedBy != "" {
		st.Holder = e.Verdict(snap).Why
	}
	return st, nil
}

// GateFor is the gate that ferrus.toml has for a task now: that of a delegate has no delegates.
func GateFor(t state.Task, conf config.Config) config.Gate {
	if t.IsDelegate() {
		return conf.Gate().OfDelegate()
	}
	return conf.Gate()
}

// present is the snapshot as it reads now: a check that is said to be running, while no process runs it and its holder
// is not known to live, was abandoned. One that this engine is about to start has no process yet.
func (e *Engine) present(snap store.Snapshot) store.Snapshot {
	if snap.Task.Check.Status == state.CheckRunning && e.store.Probe(snap.Task.Session) != lease.Alive &&
		!e.runner.Busy() && !e.starting(snap) {
		snap.Task.Check.Status = state.CheckAbandoned
	}
	return snap
}

// starting reports whether this engine has begun a run of the gate for the task's holder, and it has not ended.
func (e *Engine) starting(now store.Snapshot) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.job != nil && !e.job.ended() && e.job.joinable(now)
}
