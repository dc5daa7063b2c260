package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// Limits of the numbers and texts in a run's files. They become parts of paths, are added up, and
// are displayed.
const (
	maxAttempt = 1_000_000
	maxTopic   = 1 << 20  // bytes
	maxText    = 64 << 10 // of an explanation, in bytes
	maxWord    = 1 << 10  // of a name or a session, in bytes
)

var (
	progresses = []Progress{Pending, Running, Completed, Failed, Paused}
	states     = []State{IsRunning, IsPaused, IsFailed, IsDelivering, IsCompleted, IsCancelled}
)

// Check returns an error for a field that ferrus does not write in a run of the workflow, nil if
// there is none. It accepts phases and workers that are not those of the workflow: Fits reports
// these.
func (s Status) Check(w workflow.Workflow) error {
	bad := func(field string, value any) error {
		return fmt.Errorf("%s is none of a run of %s: %.80q", field, w.Name, fmt.Sprint(value))
	}
	switch {
	case s.SchemaVersion != SchemaVersion:
		return bad("schema_version", s.SchemaVersion)
	case !short(s.Pipeline, workflow.MaxName):
		return bad("pipeline", s.Pipeline)
	case !short(s.Dir, 2*workflow.MaxName) || strings.ContainsAny(s.Dir, `/\`):
		return bad("dir", s.Dir)
	case !short(s.Topic, maxTopic):
		return bad("topic", s.Topic)
	case !slices.Contains(states, s.State):
		return bad("state", s.State)
	case s.CurrentPhase < 0 || s.CurrentPhase >= max(1, len(s.Phases)):
		return bad("current_phase", s.CurrentPhase)
	case s.RetryCount < 0 || s.RetryCount > maxAttempt:
		return bad("retry_count", s.RetryCount)
	case s.Rev < 0:
		return bad("rev", s.Rev)
	case !short(s.Failure, maxText):
		return bad("failure", s.Failure)
	}
	for i, p := range s.Phases {
		at := fmt.Sprintf("phases[%d].", i)
		switch {
		case !short(p.ID, workflow.MaxName):
			return bad(at+"id", p.ID)
		case !slices.Contains(progresses, p.Status):
			return bad(at+"status", p.Status)
		case !short(p.ResumedBy, maxWord):
			return bad(at+"resumed_by", p.ResumedBy)
		}
		for _, k := range p.Workers {
			if field, value := k.check(w); field != "" {
				return bad(at+"workers."+k.Role+"."+field, value)
			}
		}
	}
	return nil
}

// check returns a field that a worker of the workflow cannot have, and its value.
func (k WorkerStatus) check(w workflow.Workflow) (field string, value any) {
	output := k.Output // of a role that is none of the workflow's: Fits tells of it
	worker, phase := w.Worker(k.Role)
	if phase >= 0 {
		output = w.Phases[phase].Output(worker)
	}
	switch {
	case !short(k.Role, workflow.MaxName) || strings.ContainsAny(k.Role, `/\.`):
		return "role", k.Role
	case k.Output != "" && k.Output != output, strings.ContainsAny(k.Output, `/\`), strings.HasPrefix(k.Output, "."):
		return "output", k.Output
	case !slices.Contains(progresses[:4], k.Status):
		return "status", k.Status
	case k.Attempt < 0 || k.Attempt > maxAttempt:
		return "attempt", k.Attempt
	case k.Tries < 0 || k.Tries > maxAttempt:
		return "tries", k.Tries
	case k.Bytes < 0:
		return "bytes", k.Bytes
	case k.SHA256 != "" && !digest(k.SHA256):
		return "sha256", k.SHA256
	case !short(k.Session, maxWord):
		return "session", k.Session
	case !short(k.Asked, workflow.MaxName):
		return "asked", k.Asked
	case !short(k.Heard, workflow.MaxName):
		return "heard", k.Heard
	case !short(string(k.Reason), workflow.MaxName):
		return "reason", k.Reason
	case !short(k.Detail, maxText):
		return "detail", k.Detail
	}
	return "", nil
}

// Check returns an error for a field that ferrus does not write in the delivery of a run of the
// workflow, nil if there is none.
func (d Delivery) Check(w workflow.Workflow) error {
	_, phase := w.Worker(d.By)
	switch {
	case !slices.Contains([]DeliverState{Claimed, Sending, Delivered, Uncertain}, d.State):
		return fmt.Errorf("state %.40q is unknown", d.State)
	case phase < 0 && d.By != "ferrus" && d.By != "watchdog":
		return fmt.Errorf("by %.80q is nobody who delivers", d.By)
	case !short(d.ID, 2*workflow.MaxName):
		return fmt.Errorf("id has %d bytes", len(d.ID))
	case !short(d.Target, maxText):
		return fmt.Errorf("target has %d bytes", len(d.Target))
	case d.SHA256 != "" && !digest(d.SHA256):
		return fmt.Errorf("sha256 %.80q is none", d.SHA256)
	}
	return nil
}

// short reports whether a text is UTF-8 without NUL, of at most the given number of bytes.
func short(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

// digest reports whether a text is a SHA-256 in the form that ferrus writes.
func digest(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
