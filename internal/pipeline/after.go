package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// After returns the status after the action. For an action that does not change the status it
// returns the status as it is.
func (s Status) After(a Action, at time.Time) Status {
	change, ok := changes[a.Do]
	if !ok {
		return s
	}
	next := s.Clone()
	at = whole(at)
	change(&next, a, at)
	delivery := DeliverState("")
	if a.Do == Settle {
		delivery = Sending
	}
	next.State = next.stands(delivery)
	next.Rev++
	next.UpdatedAt = at
	return next
}

// changes has the effect of each verb on the status. The other verbs only change files, or nothing.
var changes = map[Verb]func(*Status, Action, time.Time){
	Cancel: func(s *Status, a Action, at time.Time) {
		s.State, s.Failure = IsCancelled, a.Why
		for _, role := range a.Roles {
			s.Worker(role).fail("", a.Why, at)
		}
	},
	Pause: func(s *Status, a Action, at time.Time) { s.Phases[a.Phase].Status = Paused },
	Resume: func(s *Status, a Action, at time.Time) {
		s.Phases[a.Phase].Status, s.Phases[a.Phase].ResumedBy = Running, a.By
	},
	Accept: func(s *Status, a Action, at time.Time) {
		for _, role := range a.Roles {
			s.Worker(role).Reason = Accepted
		}
		s.Phases[a.Phase].Status, s.Failure = Running, ""
	},
	Deliver:  func(s *Status, a Action, at time.Time) { s.delivered(at) },
	Watchdog: func(s *Status, a Action, at time.Time) { s.delivered(at) },
	Confirm:  func(s *Status, a Action, at time.Time) { s.delivered(at) },
	Settle:   func(s *Status, a Action, at time.Time) {},
	Finish: func(s *Status, a Action, at time.Time) {
		s.Phases[a.Phase].Status, s.Phases[a.Phase].CompletedAt = Completed, at
		s.CurrentPhase = a.Phase + 1
	},
	Start:   func(s *Status, a Action, at time.Time) { s.spawn(a.Roles, at) },
	Restart: func(s *Status, a Action, at time.Time) { s.spawn(a.Roles, at); s.RetryCount++ },
	Ask:     func(s *Status, a Action, at time.Time) { s.Worker(a.Roles[0]).Asked = a.Question },
	Answer:  func(s *Status, a Action, at time.Time) { s.Worker(a.Roles[0]).Heard = a.Question },
	// What an answer continues is no retry.
	Continue: func(s *Status, a Action, at time.Time) { s.spawn(a.Roles, at) },
	Turn: func(s *Status, a Action, at time.Time) {
		s.spawn(a.Roles, at)
		s.Worker(a.Roles[0]).Tries++
	},
	Take: func(s *Status, a Action, at time.Time) {
		for _, role := range a.Roles {
			k := s.Worker(role)
			*k = k.again(Pending)
			k.Tries = 0
		}
	},
	Restore: func(s *Status, a Action, at time.Time) {
		for _, role := range a.Roles {
			k := s.Worker(role)
			tries := k.Tries
			*k = k.again(Pending)
			k.Tries, k.Reason, k.Detail = tries, a.Reason, a.Why
		}
	},
	Retry: func(s *Status, a Action, at time.Time) {
		s.RetryCount++
		s.Failure = ""
		for i := range s.Phases {
			p := &s.Phases[i]
			for j := range p.Workers {
				if slices.Contains(a.Roles, p.Workers[j].Role) {
					p.Workers[j] = p.Workers[j].again(Pending)
					p.Workers[j].Tries = 0
					p.Status, p.CompletedAt, p.ResumedBy = Running, time.Time{}, ""
					s.CurrentPhase = min(s.CurrentPhase, i)
				}
			}
			if i > s.CurrentPhase && s.Spawn != workflow.SpawnAll {
				p.Status, p.StartedAt, p.CompletedAt = Pending, time.Time{}, time.Time{}
			}
		}
	},
	FailWorker: func(s *Status, a Action, at time.Time) {
		for _, role := range a.Roles {
			s.Worker(role).fail(a.Reason, a.Why, at)
		}
	},
	FailPhase: func(s *Status, a Action, at time.Time) {
		for _, role := range a.Roles {
			s.Worker(role).fail(a.Reason, a.Why, at)
		}
		s.Phases[a.Phase].Status = Failed
		if s.Failure == "" {
			s.Failure = a.Why
		}
	},
}

// delivered marks the result as sent.
func (s *Status) delivered(at time.Time) {
	s.ResultDelivered = true
	p := &s.Phases[len(s.Phases)-1]
	if !slices.ContainsFunc(p.Workers, func(k WorkerStatus) bool { return k.Status != Completed }) {
		p.Status = Completed
		if p.CompletedAt.IsZero() {
			p.CompletedAt = at
		}
	}
}

func (s *Status) spawn(roles []string, at time.Time) {
	for i := range s.Phases {
		p := &s.Phases[i]
		for j := range p.Workers {
			k := &p.Workers[j]
			if !slices.Contains(roles, k.Role) {
				continue
			}
			k.start(k.Attempt+1, at, s.Dir)
			if p.Status == Pending {
				p.Status, p.StartedAt = Running, at
			}
		}
	}
}

// start begins an attempt. The session has the attempt's name until the agent's own is known.
func (k *WorkerStatus) start(attempt int, at time.Time, dir string) {
	tries := k.Tries
	*k = k.again(Running)
	k.Attempt, k.StartedAt, k.Tries = attempt, whole(at), tries
	k.Session = fmt.Sprintf("%s:%s:%d", dir, k.Role, attempt)
}

// again returns the worker with another status. A running or completed one keeps its times.
func (k WorkerStatus) again(p Progress) WorkerStatus {
	fresh := WorkerStatus{Role: k.Role, Output: k.Output, Status: p, Attempt: k.Attempt, Session: k.Session, Tries: k.Tries, Asked: k.Asked, Heard: k.Heard, Extra: k.Extra}
	if p == Running || p == Completed {
		fresh.StartedAt, fresh.ReadyAt, fresh.Deadline = k.StartedAt, k.ReadyAt, k.Deadline
	}
	if p == Pending {
		fresh.Session = ""
	}
	return fresh
}

func (k *WorkerStatus) fail(why Reason, detail string, at time.Time) {
	if k == nil {
		return
	}
	k.Status, k.Reason, k.Detail, k.FailedAt = Failed, why, detail, whole(at)
	k.CompletedAt, k.Bytes, k.SHA256 = time.Time{}, 0, ""
}

func orNow(t, now time.Time) time.Time {
	if t.IsZero() {
		return now
	}
	return t
}
