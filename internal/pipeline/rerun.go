package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// A Rerun is how a finished run is run again: the status with which a new run begins, and the
// outputs of the old one that count in it.
type Rerun struct {
	Status  Status
	From    string   // the role or phase that works again first
	Outputs []Output // in the order of the workflow
}

// An Output is a file of a run that counts.
type Output struct {
	File   string   `json:"file"`
	Roles  []string `json:"roles"` // one, or all of a dialogue
	SHA256 string   `json:"sha256"`
}

// A PointError says why a run cannot be taken up from a point.
type PointError struct {
	From       string
	Unfinished []string // roles of earlier phases without an output that counts; nil: there is no such role or phase
}

func (e *PointError) Error() string {
	if e.Unfinished == nil {
		return fmt.Sprintf("there is no worker and no phase %q", e.From)
	}
	return fmt.Sprintf("before %s there is no output of %s", e.From, list(e.Unfinished))
}

// NewRerun returns how a run that has ended with a status is run again in the folder dir. The
// workers of the role or phase from work again, and all that use what these write; so do workers of
// its phase, and of later ones, that did not finish. "" is the first worker that did not finish, or
// the first phase if all did. The error is *PointError.
func NewRerun(w workflow.Workflow, was Status, from, dir, topic string, at time.Time) (Rerun, error) {
	unfinished := was.roles(func(_ int, k WorkerStatus) bool { return !(Facts{Workflow: w}).good(k) })
	if from == "" {
		from = w.Phases[0].ID
		if len(unfinished) > 0 {
			from = unfinished[0]
		}
	}
	named := was.roles(func(phase int, k WorkerStatus) bool { return from == k.Role || from == was.Phases[phase].ID })
	if len(named) == 0 {
		return Rerun{}, &PointError{From: from}
	}
	_, first := w.Worker(named[0])
	if early := slices.DeleteFunc(slices.Clone(unfinished), func(role string) bool { _, i := w.Worker(role); return i >= first }); len(early) > 0 {
		return Rerun{}, &PointError{from, early}
	}
	// As if all had been done: then a worker that has used an output is one that reads it.
	done := was.Clone()
	for i := range done.Phases {
		for j := range done.Phases[i].Workers {
			done.Phases[i].Workers[j].Status = Completed
		}
	}
	again := Facts{Workflow: w, Status: done}.spoils(append(named, unfinished...), true)
	return takenOver(w, was, again, from, New(w, dir, topic, at)), nil
}

// takenOver returns a rerun in which these roles work again, and the outputs of all others count.
func takenOver(w workflow.Workflow, was Status, again []string, from string, next Status) Rerun {
	r := Rerun{From: from}
	whole := true // so far no phase has anything to do
	for i := range next.Phases {
		p := &next.Phases[i]
		done := 0
		for j, k := range was.Phases[i].Workers {
			if slices.Contains(again, k.Role) {
				continue
			}
			done++
			p.Workers[j].Status, p.Workers[j].CompletedAt, p.Workers[j].Bytes, p.Workers[j].SHA256 = Completed, next.CreatedAt, k.Bytes, k.SHA256
			if n := len(r.Outputs); n > 0 && r.Outputs[n-1].File == k.Output {
				r.Outputs[n-1].Roles = append(r.Outputs[n-1].Roles, k.Role)
			} else {
				r.Outputs = append(r.Outputs, Output{k.Output, []string{k.Role}, k.SHA256})
			}
		}
		if whole = whole && done == len(p.Workers); whole {
			p.Status, p.StartedAt, p.CompletedAt, next.CurrentPhase = Completed, next.CreatedAt, next.CreatedAt, i+1
		}
	}
	r.Status = next
	return r
}

// roles returns the roles for which claim is true, in the order of the phases.
func (s Status) roles(claim func(phase int, k WorkerStatus) bool) []string {
	var roles []string
	for i, p := range s.Phases {
		for _, k := range p.Workers {
			if claim(i, k) {
				roles = append(roles, k.Role)
			}
		}
	}
	return roles
}
