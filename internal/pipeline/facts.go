package pipeline

import (
	"slices"
	"time"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

// Facts are everything on which a decision depends, as of one moment. The caller gathers them.
type Facts struct {
	Workflow  workflow.Workflow // the copy that the run keeps
	Status    Status
	Files     map[string]File // what is in the folder of the run: outputs and transcripts, by name
	Workers   map[string]Seen // by role
	Delivery  Delivery        // delivery.json; the zero one when there is none
	Intent    Intent          // what a person has asked for
	Talk      Talk            // the files of the dialogue
	Questions []Question      // of workers to a person, in the order in which they were asked
	Now       time.Time
	Woke      time.Time // when the machine last came out of a sleep; zero when it did not
}

// A File is an output as found on disk.
type File struct {
	Bytes   int64
	SHA256  string
	Settled bool   // it has not changed for two looks and two seconds
	First   string // its first line, for a person
}

// Seen is what a worker's lock and record say. A record belongs to one attempt.
type Seen struct {
	Alive   bool // its lock is held
	Waiting bool // it lives, but its agent has not begun: inputs or a free place are missing
	Attempt int  // 0: there is no record
	Session string
	Spawned time.Time
	Began   time.Time // when its agent began
	Exited  bool      // the record has an end
	Exit    int
	Moved   int    // attempts after which another agent of its list took over: no fault of the work
	GaveUp  bool   // it ended because its inputs did not come
	Trouble string // why its agent could not be started
	Sent    bool   // its last words contain the marker of a result that is sent
	Said    string // the end of what a command printed; "" for an agent
}

// A Delivery is the content of delivery.json, which is created only once.
type Delivery struct {
	ID     string       `json:"id"`
	By     string       `json:"by"` // a role, ferrus or watchdog
	State  DeliverState `json:"state"`
	Target string       `json:"target"`
	SHA256 string       `json:"sha256"`
	At     time.Time    `json:"at"`

	Alive bool `json:"-"` // who claimed it lives
}

// A DeliverState says how far a delivery is. Claimed means that nothing was sent, sending that
// something may have been.
type DeliverState string

const (
	Claimed   DeliverState = "claimed"
	Sending   DeliverState = "sending"
	Delivered DeliverState = "delivered"
	Uncertain DeliverState = "uncertain"
)

// An Intent is a request of a person. It is removed when it is fulfilled.
type Intent struct {
	Verb Verb // Cancel, Resume, Retry, Confirm, Again; "" is nothing
	From string
	By   string
}

// Talk has the files of a dialogue. Base is ferrus's own copy of dialogue.json, made at the start
// of the present turn.
type Talk struct {
	Base, Text []byte // nil when there is no such file
}

// parting is how long a worker that still runs at the end of a run has to exit.
const parting = 20 * time.Second

// started reports whether the phase's workers may have been started.
func (f Facts) started(phase int) bool { return f.Workflow.All() || phase <= f.Status.CurrentPhase }

// seen returns what is known about the worker's newest attempt.
func (f Facts) seen(s WorkerStatus) Seen {
	if seen := f.Workers[s.Role]; seen.Alive || seen.Attempt >= s.Attempt {
		return seen
	}
	return Seen{} // the record of an attempt before
}

// present reports whether an output exists and is, as far as can be told, complete.
func (f Facts) present(file string) bool {
	for _, role := range f.Workflow.Writers(file) {
		if s := f.Status.Worker(role); !f.good(*s) {
			return false
		}
	}
	_, there := f.Files[file]
	return there
}

// Lost returns the missing inputs of a worker, according to the status in the facts. The caller
// must have reconciled the status.
func (f Facts) Lost(role string) []string { return f.lost(role) }

func (f Facts) lost(role string) []string {
	return slices.DeleteFunc(f.Workflow.Waits(role), f.present)
}

// good reports whether the worker is done and its output may be used.
func (f Facts) good(s WorkerStatus) bool {
	k, _ := f.Workflow.Worker(s.Role)
	return s.Status == Completed && (s.Reason != Unclean || k.AcceptPartial)
}

// bad reports whether the worker has failed and needs an action to continue.
func (f Facts) bad(s WorkerStatus) bool {
	return s.Status == Failed || s.Status == Completed && !f.good(s)
}

// done reports whether every worker of the phase is done.
func (f Facts) done(phase int) bool {
	return !slices.ContainsFunc(f.Status.Phases[phase].Workers, func(s WorkerStatus) bool { return !f.good(s) })
}

func (f Facts) current() PhaseStatus { return f.Status.Phases[f.Status.CurrentPhase] }
func (f Facts) last() int            { return len(f.Status.Phases) - 1 }

// all returns the roles of the started phases for which claim is true, in their order.
func (f Facts) all(claim func(WorkerStatus) bool) []string {
	var roles []string
	for i, p := range f.Status.Phases {
		for _, s := range p.Workers {
			if f.started(i) && claim(s) {
				roles = append(roles, s.Role)
			}
		}
	}
	return roles
}

// alive returns the live workers, whatever their status.
func (f Facts) alive() []string {
	return f.all(func(s WorkerStatus) bool { return f.Workers[s.Role].Alive })
}

// free returns how many more agents may run. With spawn all the workers share the places among
// themselves.
func (f Facts) free() int {
	busy := len(f.all(func(s WorkerStatus) bool { return f.Workers[s.Role].Alive && !f.Workers[s.Role].Waiting }))
	return max(f.Workflow.Cap()-busy, 0)
}
