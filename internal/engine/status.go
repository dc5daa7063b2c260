package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/document"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Waiting says for whom the task waits, and since when: no wait is silent.
type Waiting struct {
	For   string    `json:"for"` // executor, supervisor, human, check or nobody
	Since time.Time `json:"since,omitzero"`
}

// Status is the machine as a reader wants to see it.
type Status struct {
	store.Snapshot
	Waiting Waiting
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
	st := Status{Snapshot: snap, Waiting: WaitingFor(snap.Task)}
	var err error
	if st.Gate, err = e.Gate(snap); err != nil && snap.Task.TaskID != "" {
		return st, err
	}
	conf, err := e.Config()
	if err != nil {
		st.Broken = err.Error()
	} else if snap.Task.TaskID != "" {
		st.Differs = st.Gate.Diff(conf.Gate())
	}
	st.Environ = e.settings.OtherEnviron(snap)
	if snap.Task.ClaimedBy != "" {
		st.Holder = e.Verdict(snap).Why
	}
	return st, nil
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

// WaitingFor says for whom a task waits.
func WaitingFor(t state.Task) Waiting {
	w := Waiting{Since: t.Since}
	if t.Returning != (state.FileMove{}) {
		return Waiting{For: "human", Since: t.UpdatedAt} // to finish the rollback
	}
	switch t.State {
	case state.Executing, state.Addressing, state.Checking:
		w.For = "executor"
		if t.Check.Status == state.CheckRunning {
			w = Waiting{For: "check", Since: t.UpdatedAt}
		}
	case state.Consultation:
		w.For = "supervisor"
		if t.Consultation.Answered {
			w.For = "executor"
		}
	case state.Reviewing:
		w.For = "supervisor"
	case state.AwaitingHuman:
		w.For = "human"
	default:
		w.For = "nobody"
	}
	return w
}

// Finish is the command that ends a rollback or a merge whose files are being moved, "" where none is under way.
func (st Status) Finish() string { return finishing(st.Task) }

func finishing(t state.Task) string {
	switch r := t.Returning; {
	case r.To != 0:
		return fmt.Sprintf("%s %d --files --reason \"...\"", refusal.OnBranch(t.Branch, "ferrus rollback"), r.To)
	case r.From != "":
		return "ferrus merge " + r.From
	}
	return ""
}

// Notices are what every result tells its reader beside its own matter: that the gate in force is not that of
// ferrus.toml, that control files were edited, that a person acted without a terminal.
func (st Status) Notices() []string {
	var out []string
	for _, c := range st.Differs {
		out = append(out, "config_changed: "+document.Clip(c.String(), document.MaxLine)+"; the frozen value holds until a person runs "+
			refusal.OnBranch(st.Task.Branch, "ferrus config accept"))
	}
	if n := len(out) - maxNotices; n > 0 {
		out = append(out[:maxNotices], fmt.Sprintf("config_changed: %d more values", n))
	}
	if st.Broken != "" {
		out = append(out, "config_broken: "+document.Clip(st.Broken, document.MaxLine))
	}
	if finish := st.Finish(); finish != "" {
		what := fmt.Sprintf("rollback: files are being moved back to entry %d", st.Task.Returning.To)
		if from := st.Task.Returning.From; from != "" {
			what = "merge: files of the branch " + from + " are being moved in"
		}
		out = append(out, what+"; a person finishes that by "+finish)
	}
	if n := st.Task.Violations; n > 0 {
		out = append(out, fmt.Sprintf("violation: control files were edited from outside %d times in this task and put back; "+
			"use the tools", n))
	}
	times := map[string]int{}
	for _, r := range st.Task.Unattended {
		times[r.ID]++
	}
	var acts []string
	for _, event := range slices.Sorted(maps.Keys(times)) {
		acts = append(acts, fmt.Sprintf("%s %d", event, times[event]))
	}
	if len(acts) > 0 {
		out = append(out, "without a terminal: done in a person's name, and how often: "+strings.Join(acts, ", "))
	}
	return out
}

// maxNotices is how many changed values of ferrus.toml are told one by one.
const maxNotices = 3
