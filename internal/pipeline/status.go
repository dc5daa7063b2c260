package pipeline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// SchemaVersion is that of status.json.
const SchemaVersion = 1

// Progress is how far a phase or a worker is.
type Progress string

const (
	Pending   Progress = "pending"
	Running   Progress = "running"
	Completed Progress = "completed"
	Failed    Progress = "failed"
	Paused    Progress = "paused" // phases alone
)

// State is how a whole run stands.
type State string

const (
	IsRunning    State = "running"
	IsPaused     State = "paused"
	IsFailed     State = "failed"
	IsDelivering State = "delivering"
	IsCompleted  State = "completed"
	IsCancelled  State = "cancelled"
)

// Status is a status.json. Its first keys are those that readers of the format know, always all there; Extra are keys
// that somebody else has added, which are kept.
type Status struct {
	Pipeline        string        `json:"pipeline"`
	Dir             string        `json:"dir"`
	Topic           string        `json:"topic"`
	CurrentPhase    int           `json:"current_phase"` // from 0
	RetryCount      int           `json:"retry_count"`
	Phases          []PhaseStatus `json:"phases"`
	ResultDelivered bool          `json:"result_delivered"`

	SchemaVersion int       `json:"schema_version"`
	Rev           int       `json:"rev"` // one more with each change
	State         State     `json:"state"`
	Spawn         Spawn     `json:"spawn"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	Failure       string    `json:"failure,omitempty"`

	Extra extra `json:"-"`
}

// PhaseStatus is how one phase stands.
type PhaseStatus struct {
	ID      string   `json:"id"`
	Status  Progress `json:"status"`
	Workers Roster   `json:"workers"`

	Mode        Mode      `json:"mode,omitempty"`
	PauseAfter  bool      `json:"pause_after,omitempty"`
	StartedAt   time.Time `json:"started_at,omitzero"`
	CompletedAt time.Time `json:"completed_at,omitzero"`
	ResumedBy   string    `json:"resumed_by,omitempty"`

	Extra extra `json:"-"`
}

// Roster are the workers of a phase in the order of the workflow. In JSON it is an object by role.
type Roster []WorkerStatus

// WorkerStatus is how one worker stands.
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

	Extra extra `json:"-"`
}

// extra are keys that are none of ours.
type extra map[string]json.RawMessage

// A Reason is why a worker stands as it does, when that is not plain.
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

// New returns the status of a run that has not begun.
func New(w Workflow, dir, topic string, at time.Time) Status {
	at = whole(at)
	s := Status{Pipeline: w.Name, Dir: dir, Topic: topic, SchemaVersion: SchemaVersion, Rev: 1, State: IsRunning, Spawn: SpawnPhase,
		CreatedAt: at, UpdatedAt: at}
	if w.All() {
		s.Spawn = SpawnAll
	}
	for _, p := range w.Phases {
		ps := PhaseStatus{ID: p.ID, Status: Pending, Mode: p.How(), PauseAfter: p.PauseAfter}
		for _, k := range p.Workers {
			ps.Workers = append(ps.Workers, WorkerStatus{Role: k.Role, Status: Pending, Output: p.file(k)})
		}
		s.Phases = append(s.Phases, ps)
	}
	return s
}

// DirName returns the name of the folder for a run that begins now: the pipeline and the time of day, and a number when
// the name is taken.
func DirName(pipeline string, now time.Time, taken func(string) bool) string {
	name := pipeline + "-" + now.Format("150405")
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%s-%d", pipeline, now.Format("150405"), n)
	}
	return name
}

// Fits says why the status is not one of a run of the workflow, nil when it is.
func (s Status) Fits(w Workflow) error {
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

// Worker returns how a role stands; nil when there is none.
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

// Clone returns a status that shares nothing that changes.
func (s Status) Clone() Status {
	s.Phases = slices.Clone(s.Phases)
	for i := range s.Phases {
		s.Phases[i].Workers = slices.Clone(s.Phases[i].Workers)
	}
	return s
}

// whole is a time as it is read back from JSON.
func whole(t time.Time) time.Time { return t.UTC().Round(0) }

// Same reports whether two statuses differ in the keys of others at most.
func (s Status) Same(o Status) bool { return reflect.DeepEqual(s.bare(), o.bare()) }

// bare is the status without the keys of others.
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
