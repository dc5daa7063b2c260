// Package pipeline is the pure part of pipelines: what the files of a run mean, and the table that
// decides the next action. Facts come in, a status and an action go out, and time is an argument.
//
// The package touches no file and no process. internal/config/workflow has the definitions of
// pipelines; internal/pipeline/run has the folders, locks, processes and deliveries.
//
// Start reading at table.go.
package pipeline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// SchemaVersion is the version of status.json.
const SchemaVersion = 1

// Progress says how far a phase or a worker is.
type Progress string

const (
	Pending   Progress = "pending"
	Running   Progress = "running"
	Completed Progress = "completed"
	Failed    Progress = "failed"
	Paused    Progress = "paused" // phases alone
)

// A State is the state of a whole run.
type State string

const (
	IsRunning    State = "running"
	IsPaused     State = "paused"
	IsFailed     State = "failed"
	IsDelivering State = "delivering"
	IsCompleted  State = "completed"
	IsCancelled  State = "cancelled"
)

// A Status is the content of status.json. Its first keys are those that readers of the format know;
// they are always present. Extra has keys that others have added, which are preserved.
type Status struct {
	Pipeline        string        `json:"pipeline"`
	Dir             string        `json:"dir"`
	Topic           string        `json:"topic"`
	CurrentPhase    int           `json:"current_phase"` // from 0
	RetryCount      int           `json:"retry_count"`
	Phases          []PhaseStatus `json:"phases"`
	ResultDelivered bool          `json:"result_delivered"`

	SchemaVersion int            `json:"schema_version"`
	Rev           int            `json:"rev"` // one more with each change
	State         State          `json:"state"`
	Spawn         workflow.Spawn `json:"spawn"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	Failure       string         `json:"failure,omitempty"`

	Extra extra `json:"-"`
}

// A PhaseStatus is the status of one phase.
type PhaseStatus struct {
	ID      string   `json:"id"`
	Status  Progress `json:"status"`
	Workers Roster   `json:"workers"`

	Mode        workflow.Mode `json:"mode,omitempty"`
	PauseAfter  bool          `json:"pause_after,omitempty"`
	StartedAt   time.Time     `json:"started_at,omitzero"`
	CompletedAt time.Time     `json:"completed_at,omitzero"`
	ResumedBy   string        `json:"resumed_by,omitempty"`

	Extra extra `json:"-"`
}

// A Roster has the workers of a phase in the order of the workflow. In JSON it is an object by
// role.
type Roster []WorkerStatus

// A WorkerStatus is the status of one worker.
type WorkerStatus struct {
	Role    string   `json:"-"`
	Status  Progress `json:"status"`
	Session string   `json:"session"`

	Attempt     int       `json:"attempt,omitempty"`   // the newest, from 1
	StartedAt   time.Time `json:"started_at,omitzero"` // of the attempt
	ReadyAt     time.Time `json:"ready_at,omitzero"`   // when its inputs were there and its agent began
	Deadline    time.Time `json:"deadline,omitzero"`   // without the grace
	CompletedAt time.Time `json:"completed_at,omitzero"`
	FailedAt    time.Time `json:"failed_at,omitzero"`
	Output      string    `json:"output,omitempty"`
	Bytes       int64     `json:"bytes,omitempty"`
	SHA256      string    `json:"sha256,omitempty"`
	Reason      Reason    `json:"reason,omitempty"`
	Detail      string    `json:"detail,omitempty"` // of the reason
	ExitCode    *int      `json:"exit_code,omitempty"`
	Tries       int       `json:"tries,omitempty"` // at the present turn of a dialogue
	Asked       string    `json:"asked,omitempty"` // the newest question that is in the journal
	Heard       string    `json:"heard,omitempty"` // the newest of these whose answer is there, too

	Extra extra `json:"-"`
}

// extra are keys that ferrus does not know.
type extra map[string]json.RawMessage

// A Reason says why a worker has its status, if that is not obvious.
type Reason string

const (
	NoOutput     Reason = "exited_without_output"
	TimedOut     Reason = "TIMEOUT"
	NotStarted   Reason = "spawn_failed"
	MissingInput Reason = "missing_input"
	Vanished     Reason = "output_vanished"
	Unclean      Reason = "unclean_exit" // it has an output, but did not end well
	Accepted     Reason = "accepted"     // unclean, and a person took it
	Late         Reason = "late_output"
	Violation    Reason = "contract_violation"
	EmptyTurn    Reason = "empty_turn"
)

// New returns the status of a run that has not started.
func New(w workflow.Workflow, dir, topic string, at time.Time) Status {
	at = whole(at)
	s := Status{Pipeline: w.Name, Dir: dir, Topic: topic, SchemaVersion: SchemaVersion, Rev: 1, State: IsRunning, Spawn: workflow.SpawnPhase,
		CreatedAt: at, UpdatedAt: at}
	if w.All() {
		s.Spawn = workflow.SpawnAll
	}
	for _, p := range w.Phases {
		ps := PhaseStatus{ID: p.ID, Status: Pending, Mode: p.How(), PauseAfter: p.PauseAfter}
		for _, k := range p.Workers {
			ps.Workers = append(ps.Workers, WorkerStatus{Role: k.Role, Status: Pending, Output: p.Output(k)})
		}
		s.Phases = append(s.Phases, ps)
	}
	return s
}

// DirName returns the name of the folder for a run that starts now: the pipeline and the time of
// day, with a number if the name is in use.
func DirName(pipeline string, now time.Time, taken func(string) bool) string {
	name := pipeline + "-" + now.Format("150405")
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%s-%d", pipeline, now.Format("150405"), n)
	}
	return name
}

// Fits returns an error if the status does not belong to a run of the workflow.
func (s Status) Fits(w workflow.Workflow) error {
	if s.Pipeline != w.Name || len(s.Phases) != len(w.Phases) {
		return fmt.Errorf("status.json is of a run of %s with %s, not of %s with %d", s.Pipeline, count(len(s.Phases), "phase"),
			w.Name, len(w.Phases))
	}
	for i, p := range w.Phases {
		fits := s.Phases[i].ID == p.ID && len(s.Phases[i].Workers) == len(p.Workers)
		for j := 0; fits && j < len(p.Workers); j++ {
			fits = s.Phases[i].Workers[j].Role == p.Workers[j].Role
		}
		if !fits {
			return fmt.Errorf("status.json: phase %d (%s) is not that of the workflow (%s)", i, s.Phases[i].ID, p.ID)
		}
	}
	return nil
}

// Worker returns the status of a role, nil when there is none.
func (s Status) Worker(role string) *WorkerStatus {
	for i := range s.Phases {
		for j := range s.Phases[i].Workers {
			if k := &s.Phases[i].Workers[j]; k.Role == role {
				return k
			}
		}
	}
	return nil
}

// Clone returns a copy that shares nothing that changes.
func (s Status) Clone() Status {
	s.Phases = slices.Clone(s.Phases)
	for i := range s.Phases {
		s.Phases[i].Workers = slices.Clone(s.Phases[i].Workers)
	}
	return s
}

// whole returns a time as it is read back from JSON.
func whole(t time.Time) time.Time { return t.UTC().Round(0) }

// Same reports whether two statuses are equal except for unknown keys.
func (s Status) Same(o Status) bool { return reflect.DeepEqual(s.bare(), o.bare()) }

// bare returns the status without unknown keys.
func (s Status) bare() Status {
	s = s.Clone()
	s.Extra = nil
	for i := range s.Phases {
		s.Phases[i].Extra = nil
		for j := range s.Phases[i].Workers {
			s.Phases[i].Workers[j].Extra = nil
		}
	}
	return s
}
