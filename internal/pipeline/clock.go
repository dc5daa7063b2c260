package pipeline

import (
	"cmp"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// Grace is how long after its time a worker may continue to run.
const Grace = 120 * time.Second

// Default times of a worker whose workflow gives none.
const (
	workAlone  = 180 * time.Second // without inputs
	workReads  = 360 * time.Second // with inputs, the wait for them counted
	workAtMost = 60 * time.Second  // of it at least after they came
	waitUsual  = 300 * time.Second
)

// settling is the interval of checks of a file that may still grow.
const settling = 2 * time.Second

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// WorkEnd returns the end of a worker's time, without the grace. A time that the workflow gives
// counts work only, not waiting. While a question of the worker is open, its time does not pass.
func (f Facts) WorkEnd(role string) time.Time {
	k, _ := f.Workflow.Worker(role)
	s := f.Status.Worker(role)
	began := s.StartedAt
	if !s.ReadyAt.IsZero() {
		began = s.ReadyAt
	}
	stood := f.stood(role, began)
	began = began.Add(stood)
	switch inputs := len(f.Workflow.Waits(role)) > 0; {
	case k.Timeout > 0:
		return began.Add(seconds(k.Timeout))
	case !inputs:
		return began.Add(workAlone)
	case f.Workflow.All():
		return later(s.StartedAt.Add(workReads+stood), began.Add(workAtMost))
	default:
		return began.Add(workReads)
	}
}

// WaitEnd returns until when a started worker waits for its inputs, or for a place: its wait, and
// longer while the writers of its inputs run. A chain of workers is not cut off because it is long.
func (f Facts) WaitEnd(role string) time.Time {
	k, _ := f.Workflow.Worker(role)
	s := f.Status.Worker(role)
	end := s.StartedAt.Add(cmp.Or(seconds(k.Wait), waitUsual))
	missing := false
	for _, file := range f.Workflow.Waits(role) {
		missing = missing || !f.present(file)
		for _, writer := range f.Workflow.Writers(file) {
			end = later(end, later(f.comes(writer), f.Status.Worker(writer).CompletedAt))
		}
	}
	if missing {
		return end
	}
	for _, p := range f.Status.Phases { // it waits for a place
		for _, other := range p.Workers {
			end = later(end, later(other.CompletedAt, other.FailedAt))
			if seen := f.Workers[other.Role]; seen.Alive && !seen.Waiting {
				end = later(end, f.WorkEnd(other.Role).Add(Grace))
			}
		}
	}
	return end
}

// comes returns until when the output of a worker may still come; zero when the worker is not
// alive.
func (f Facts) comes(role string) time.Time {
	switch seen := f.Workers[role]; {
	case !seen.Alive:
		return time.Time{}
	case !seen.Waiting:
		return f.WorkEnd(role).Add(Grace)
	}
	k, _ := f.Workflow.Worker(role)
	return f.WaitEnd(role).Add(Grace + cmp.Or(seconds(k.Timeout), workReads) + Grace)
}

// end returns the end of the worker's time as of now, without the grace.
func (f Facts) end(role string) time.Time {
	if f.Workers[role].Waiting {
		return f.WaitEnd(role)
	}
	return f.WorkEnd(role)
}

// over returns when the worker is too late. A file that is being written has the same grace again.
func (f Facts) over(role string) time.Time {
	at := f.end(role).Add(Grace)
	k, phase := f.Workflow.Worker(role)
	if file, there := f.Files[k.File()]; there && !file.Settled && f.Workflow.Phases[phase].How() != workflow.Talking {
		at = at.Add(Grace)
	}
	// While the machine slept nothing could run.
	if f.woken() {
		at = later(at, f.Woke.Add(Grace))
	}
	return at
}

// woken reports whether the machine has just woken up.
func (f Facts) woken() bool {
	return !f.Woke.IsZero() && !f.Woke.After(f.Now) && f.Now.Sub(f.Woke) <= Grace
}

func (f Facts) late(role string) bool { return !f.Stands(role) && f.Now.After(f.over(role)) }

// next returns when time alone will change something; zero when it will not.
func (f Facts) next() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	for _, role := range f.alive() {
		s := f.Status.Worker(role)
		if f.Stands(role) {
			continue
		}
		if late := f.over(role); late.Before(f.Now) {
			sooner(f.Now.Add(settling)) // it is being ended
		} else {
			sooner(late.Add(time.Second))
		}
		if file, there := f.Files[s.Output]; there && !file.Settled && s.Status == Running {
			sooner(f.Now.Add(settling))
		}
	}
	return at
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
