package pipeline

import (
	"reflect"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// Reconcile returns the status that agrees with the files and the locks: existing files count,
// whatever the status or a clock said before. If nothing is new, it is the same status with the
// same revision.
func Reconcile(f Facts) Status {
	if f.Status.Fits(f.Workflow) != nil {
		return f.Status
	}
	was := f.Status
	f.Status = was.Clone()
	if was.ResultDelivered || was.State == IsCancelled { // it is over, and what comes now is too late
		f.Status.State = was.stands(f.Delivery.State)
		return f.Status
	}
	for i := range f.Status.Phases {
		for j := range f.Status.Phases[i].Workers {
			if s := &f.Status.Phases[i].Workers[j]; f.started(i) {
				before := *s
				f.look(i, s)
				if before.Status != Pending && s.Attempt > before.Attempt && !f.owes(before) {
					f.Status.RetryCount++
				}
			}
		}
	}
	// Only now is it known whose inputs exist, and until when missing ones may come.
	for i := range f.Status.Phases {
		for j := range f.Status.Phases[i].Workers {
			f.settle(&f.Status.Phases[i].Workers[j])
		}
	}
	for i := range f.Status.Phases {
		for j := range f.Status.Phases[i].Workers {
			s := &f.Status.Phases[i].Workers[j]
			if s.Status == Running && !f.Workers[s.Role].Alive && f.inDialogue(*s) && f.spoken(s.Role) {
				*s = s.again(Pending) // its turn counts already, by the file
				s.Tries = 0
			}
			if s.Status == Running {
				s.Deadline = whole(f.end(s.Role))
			}
		}
		f.heal(i)
	}
	if f.Delivery.State == Delivered {
		f.Status.delivered(whole(f.Now))
	}
	underway := f.Delivery.State
	if underway == Claimed && !f.Delivery.Alive { // nothing was sent, and nobody will
		underway = ""
	}
	f.Status.State = f.Status.stands(underway)
	if f.Status.State != IsFailed && f.Status.State != IsCancelled {
		f.Status.Failure = ""
	}
	if reflect.DeepEqual(was, f.Status) {
		return was
	}
	f.Status.Rev++
	f.Status.UpdatedAt = whole(f.Now)
	return f.Status
}

// look updates one worker from its file and its lock.
func (f Facts) look(phase int, s *WorkerStatus) {
	seen := f.seen(*s)
	k, _ := f.Workflow.Worker(s.Role)
	talking := f.Workflow.Phases[phase].How() == workflow.Talking
	// The process that started the worker died before it could record that.
	if s.Status == Pending && seen.Alive || seen.Attempt > s.Attempt {
		s.start(max(seen.Attempt, s.Attempt, 1), orNow(seen.Spawned, f.Now), f.Status.Dir)
	}
	file, there := f.Files[s.Output]
	there = there && file.Bytes >= k.Least()
	switch ended := f.ended(phase); {
	case there && s.Status != Completed && (!seen.Alive || file.Settled || talking):
		f.complete(s, seen, file)
	case !there && s.Status == Completed && !ended && talking && !seen.Alive:
		*s = s.again(Pending) // the transcript is made anew from the dialogue
	case !there && s.Status == Completed && !ended && seen.Alive:
		*s = s.again(Running)
		s.Reason = Vanished
	case !there && s.Status == Completed && !ended && s.Reason == Unclean:
		*s = s.again(Running) // it was put aside by somebody who did not live to start the worker anew
	case !there && s.Status == Completed && !ended:
		s.fail(Vanished, s.Output+" is gone", f.Now)
	}
}

// complete marks a worker as done because its output exists.
func (f Facts) complete(s *WorkerStatus, seen Seen, file File) {
	before := s.Status
	*s = s.again(Completed)
	s.CompletedAt, s.Bytes, s.SHA256 = whole(f.Now), file.Bytes, file.SHA256
	unclean := !seen.Alive && seen.Attempt > 0 && !(seen.Exited && seen.Exit == 0 && seen.Trouble == "")
	// The output of a command is moved into place when it has ended well, so it proves that, whatever
	// became of its shim.
	if k, _ := f.Workflow.Worker(s.Role); k.Run != "" {
		unclean = seen.Exited && seen.Exit > 0 && !k.Ends(seen.Exit)
	}
	if seen.Exited {
		exit := seen.Exit
		s.ExitCode = &exit
	}
	switch {
	case before == Failed:
		s.Reason = Late
	case before == Running && unclean:
		s.Reason = Unclean
	}
}

// settle lets a worker continue whose inputs exist again, and fills in what is known about a
// running one.
func (f Facts) settle(s *WorkerStatus) {
	if s.Status == Completed && s.Session == "" {
		s.Session = f.seen(*s).Session // it was done before anybody looked
	}
	if s.Status == Failed && s.Reason == MissingInput && len(f.lost(s.Role)) == 0 && !f.Workers[s.Role].Alive {
		*s = s.again(Pending)
	}
	if s.Status == Running {
		seen := f.seen(*s)
		if seen.Session != "" {
			s.Session = seen.Session
		}
		if s.ReadyAt.IsZero() && f.Workflow.All() {
			s.ReadyAt = whole(seen.Began)
		}
		// The clock was set back. The worker's time starts again; otherwise nothing would end it.
		if s.StartedAt.After(f.Now) {
			s.StartedAt = whole(f.Now)
		}
		if s.ReadyAt.After(f.Now) {
			s.ReadyAt = whole(f.Now)
		}
	}
}

// ended reports whether later changes of a phase's outputs no longer matter to it.
func (f Facts) ended(phase int) bool {
	return f.Status.Phases[phase].Status == Completed && phase < f.Status.CurrentPhase
}

// heal gives a phase the status that agrees with its workers.
func (f Facts) heal(i int) {
	p := &f.Status.Phases[i]
	moved := slices.ContainsFunc(p.Workers, func(s WorkerStatus) bool { return s.Status != Pending })
	bad := slices.ContainsFunc(p.Workers, f.bad)
	switch {
	case p.Status == Failed && !bad,
		p.Status == Paused && !f.done(i),
		p.Status == Completed && i >= f.Status.CurrentPhase,
		p.Status == Pending && moved && f.started(i):
		p.Status = Running
		if p.StartedAt.IsZero() {
			p.StartedAt = whole(f.Now)
		}
	}
}

// sent reports whether the final worker says that it has sent the result by itself, and no delivery
// records that yet.
func (f Facts) sent() bool {
	role, file := f.Workflow.Final()
	s := f.Status.Worker(role)
	return s != nil && f.seen(*s).Sent && f.present(file) && !f.finished() && !(f.underway() && f.Delivery.Alive)
}

// stands returns the state of the whole run that follows from its parts.
func (s Status) stands(d DeliverState) State {
	has := func(p Progress) bool {
		return slices.ContainsFunc(s.Phases, func(ps PhaseStatus) bool { return ps.Status == p })
	}
	switch {
	case s.State == IsCancelled:
		return IsCancelled
	case s.ResultDelivered:
		return IsCompleted
	case d == Claimed || d == Sending || d == Uncertain:
		return IsDelivering
	case has(Failed):
		return IsFailed
	case has(Paused):
		return IsPaused
	}
	return IsRunning
}
