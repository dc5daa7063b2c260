// Package lease decides whether a claim on a task is in force, until when, and whether another
// session may take it over.
//
// The package is pure: callers pass in the time, and whether a process is alive. The identity of
// the claim (session and epoch) is part of the task, in internal/state; this package has the term
// of the lease and the one rule that ends it. An expired lease only permits a takeover. Until a
// takeover happens, the next call of the session that has the claim renews the lease.
//
// Start reading at lease.go.
package lease

import "time"

// An Instant is a reading of the monotonic clock of this machine. Readings of different processes
// can be compared, readings of different boots cannot.
type Instant struct {
	Boot  string // names the boot of the machine; never empty
	Clock string // names the clock where a boot has several, as in a container's time namespace; "" is the machine's own
	Nanos int64  // nanoseconds of CLOCK_MONOTONIC, which stands still while the machine sleeps
}

// A Term is the duration of a lease. The zero Term is a lease whose deadline is unknown: terms are
// not in the journal, so a STATE.json that was rebuilt from it has none.
type Term struct {
	Boot       string `json:"boot,omitempty"`
	Clock      string `json:"clock,omitempty"`
	DeadlineNS int64  `json:"deadline_ns,omitempty"`
	TTLNS      int64  `json:"ttl_ns,omitempty"`
}

// Grant returns the term of a lease that is granted or renewed at now.
func Grant(now Instant, ttl time.Duration) Term {
	return Term{Boot: now.Boot, Clock: now.Clock, DeadlineNS: now.Nanos + int64(ttl), TTLNS: int64(ttl)}
}

// Left returns the remaining time by the clock that wrote the term: negative after the deadline,
// zero for the zero Term and for a term of another boot or clock.
func (t Term) Left(now Instant) time.Duration {
	if !t.ours(now) {
		return 0
	}
	return time.Duration(t.DeadlineNS - now.Nanos)
}

// ours reports whether t was written by the clock that now is read from.
func (t Term) ours(now Instant) bool { return t.Boot == now.Boot && t.Clock == now.Clock }

// legible reports whether now can be measured against t. It cannot if t is of another boot or
// clock, or has more time left than it was granted. The last rule alone recognizes machines whose
// clocks have no names: a folder shared by two machines, an earlier boot of Windows.
func (t Term) legible(now Instant) bool {
	return t.ours(now) && int64(t.Left(now)) <= t.TTLNS
}

// A Probe is the result of testing the liveness lock of the session that has the claim.
type Probe string

const (
	Unknown Probe = "unknown" // no lock to look at; proves nothing
	Alive   Probe = "alive"   // the holder's process lives (it may be stopped or hung)
	Gone    Probe = "gone"    // the holder's process has ended
	Lost    Probe = "lost"    // the computer of the holder has not been heard of for longer than it may be silent
)

// A Verdict says whether another session may take over a claim.
type Verdict struct {
	Dead bool   // another session may claim the task
	Sure bool   // the old process has ended for certain; false: it may still edit files
	Why  string // the reason, as the end of a sentence after "because"
}

// Dead decides whether another session may take over the claim at now. If frozen is true, the task
// waits for a person or a consultation; then a lease does not expire while the process of its
// session is alive.
func Dead(t Term, now Instant, holder Probe, frozen bool) Verdict {
	switch {
	case holder == Gone:
		return Verdict{Dead: true, Sure: true, Why: "its process has ended"}
	case holder == Lost:
		return Verdict{Dead: true, Why: "its computer has not been heard of"}
	case holder != Alive && t.Boot != "" && t.Boot != now.Boot:
		return Verdict{Dead: true, Sure: true, Why: "the machine has been restarted since"}
	case holder == Alive && frozen:
		return Verdict{Why: "its process lives and the task is paused"}
	case holder == Alive && !t.legible(now):
		return Verdict{Why: "its process lives and its deadline cannot be read here"}
	case !t.legible(now):
		return Verdict{Dead: true, Why: "no deadline of it is known here"}
	case t.Left(now) <= 0:
		return Verdict{Dead: true, Why: "its lease ran out"}
	}
	return Verdict{Why: "its lease runs"}
}
