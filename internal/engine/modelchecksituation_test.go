package engine

import (
	"bytes"
	"slices"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A situation is all that anybody's next act may depend on: the task with its lease, the work tree, the processes, what
// they have in mind, and beside it what the test remembers of the road (chronicle). It is a value.
type situation struct {
	task  state.Task
	due   lease.Term
	tree  int8 // the content of the work tree
	conf  int8 // that of ferrus.toml
	ex    [2]executing
	sup   reviewing
	hum   reviewing
	asks  looking // a person who has read a question and writes the answer
	child child   // of the delegate that is open
	lost  bool    // the liveness file of the holder that has ended is not there any more

	scores scoring
	chronicle
}

// A scoring is a run of the score command: what it was begun on.
type scoring struct {
	on               bool
	task, tree, gate string
}

// An executing is the process of an executor.
type executing struct {
	stopped bool // by SIGSTOP; its check goes on
	lost    bool // its liveness file is not there any more
	epoch   uint64
	job     running
	submit  handing
}

// A running check is the one that the process has begun and not settled, with what the test remembers of it.
type running struct {
	on, tenure bool // tenure: the process has held the work ever since
	task, id   string
	epoch      uint64
	tree       string // as it was fingerprinted, and as it was
	was        int8
	gate       string
}

// A handing is a submit between its look at the tree and its commit.
type handing struct {
	on, green bool
	check     state.Check
	tree      int8
}

// A reviewing is what a reviewer has been shown, and one that has looked and not decided yet.
type reviewing struct {
	shown shown
	looking
}

// A looking is what somebody looked at who is about to decide.
type looking struct {
	on       bool
	task, id string
	state    state.State
	present  bool // the test remembers: it is still what was looked at
	same     bool // and that the work tree was the submitted one
}

// A chronicle is what the test knows without asking ferrus.
type chronicle struct {
	owner    owner
	left     remains
	rebooted bool  // since the term was granted
	seal     proof // of the newest check
	shownNow bool  // the supervisor has been shown the present submission
}

// An owner is who holds the work: an executor by its number, or none of them.
type owner int8

const (
	nobody owner = -1
	ended  owner = -2 // somebody whose process is there no more
)

// A remains is how long the owner may be sure of the work.
type remains int8

const (
	unknown remains = iota // STATE.json has lost it
	runs
	over
)

// A proof is what a green check has proved: this tree, judged by this gate.
type proof struct {
	on   bool
	tree int8
	gate string
}

// The instant of every act. A tick makes the term older instead.
var instant = lease.Instant{Boot: "b", Nanos: 1 << 50}

const (
	unit    = int64(90e9) // the ttl, in nanoseconds
	endedID = "ended"     // the session of a holder whose process is there no more
)

var (
	exIDs       = [2]string{"e0", "e1"}
	trees       = [2]string{"tree0", "tree1"}
	gatesOf     = [2]string{"gate0", "gate1"}
	modelLimits = state.Limits{CheckRetries: 2, ReviewCycles: 2}
)

func begin() situation {
	t := state.New()
	t.Epoch = 2
	return situation{task: t, chronicle: chronicle{owner: nobody}}
}

func (s *situation) snapshot() store.Snapshot {
	return store.Snapshot{Task: s.task, Lease: store.Lease{Term: s.due}}
}

// commit is what the store does with a change.
func (s *situation) commit(c *store.Change) {
	s.task = c.Next
	if gate, ok := c.Docs[store.GateDoc]; ok {
		s.task.Pin.SHA256 = gate
	}
	switch {
	case s.task.ClaimedBy == "":
		s.due = lease.Term{}
	case c.Lease != nil:
		s.due = c.Lease.Term
	}
}

// holding is whose session the task names.
func (s *situation) holding() owner {
	if s.task.ClaimedBy == "" {
		return nobody
	}
	if i := slices.Index(exIDs[:], s.task.Session); i >= 0 {
		return owner(i)
	}
	return ended
}

// settle gives everything the one name that tells it from what it could be confused with: numbers that only ever rise
// are counted from the present, and what no rule looks at is forgotten. Of the two executors, which are alike, the one
// that sorts first is the first.
func (s *situation) settle() string {
	t := &s.task
	for i := range s.ex {
		s.ex[i].settle(*t)
	}
	s.sup.settle(*t, t.Submission.ID)
	s.hum.settle(*t, t.Submission.ID)
	s.asks.settle(*t, t.Top().ID)
	if s.scores.on {
		s.scores.task = rename(s.scores.task == t.TaskID, "t1", "t0")
	}
	bare := state.Task{SchemaVersion: t.SchemaVersion, State: t.State, Epoch: 2, CheckRetries: t.CheckRetries, ReviewCycles: t.ReviewCycles,
		FailureReason: t.FailureReason, ClaimedBy: t.ClaimedBy, Session: t.Session, Check: settled(t.Check),
		Pin: state.Pin{SHA256: t.Pin.SHA256}, TaskID: rename(t.TaskID != "", "t1", "")}
	if bare.FailureReason != "" {
		bare.FailureReason = "spent"
	}
	bare.Delegates = s.settledDelegates()
	bare.Issued.Delegates = len(bare.Delegates)
	if t.Returning.Of != "" {
		bare.Returning = state.FileMove{From: "b", Of: "d1", Tree: "t"}
	}
	for _, p := range t.Paused {
		bare.Paused = append(bare.Paused, state.Pause{Kind: p.Kind, State: p.State, ID: rename(p.Kind == state.Consult, "c1", "q1")})
	}
	if t.Submission.ID != "" {
		bare.Submission = state.Submission{ID: "s1", Tree: t.Submission.Tree}
	}
	if t.Consultation.ID != "" {
		bare.Consultation = state.Consulting{ID: "c1", Answered: t.Consultation.Answered}
	}
	bare.Issued = state.Issued{Checks: one(bare.Check.ID != ""), Submissions: one(bare.Submission.ID != ""),
		Consultations: one(bare.Consultation.ID != ""), Questions: one(bare.Top().ID == "q1")}
	bare.Score = state.Score{Tree: t.Score.Tree, Gate: t.Score.Gate}
	s.task = bare
	s.lost = s.lost && s.holding() == ended
	switch {
	case s.due == lease.Term{}:
	case s.due.Boot != instant.Boot:
		s.due = lease.Term{Boot: "earlier", DeadlineNS: instant.Nanos + unit, TTLNS: unit}
	case s.due.Left(instant) <= 0:
		s.due = lease.Term{Boot: instant.Boot, DeadlineNS: instant.Nanos, TTLNS: unit}
	}
	key := s.key()
	other := s.mirrored()
	if mirror := other.key(); bytes.Compare(mirror, key) < 0 {
		*s, key = other, mirror
	}
	return string(key)
}

// mirrored is the situation with the executors in each other's place.
func (s *situation) mirrored() situation {
	m := *s
	m.ex[0], m.ex[1] = s.ex[1], s.ex[0]
	if h := s.holding(); h >= 0 {
		m.task.Session = exIDs[1-h]
	}
	if s.owner >= 0 {
		m.owner = 1 - s.owner
	}
	return m
}

func (x *executing) settle(t state.Task) {
	switch {
	case x.epoch == t.Epoch && x.epoch != 0:
		x.epoch = 2
	case x.epoch != 0:
		x.epoch = 1
	}
	if j := &x.job; j.on {
		same := j.task == t.TaskID
		j.id = rename(j.id == t.Check.ID || !same, "k1", "k0")
		j.task = rename(same, "t1", "t0")
		j.epoch = 1 + uint64(one(j.epoch == t.Epoch))
	}
	if u := &x.submit; u.on {
		if u.check == t.Check {
			u.check = settled(u.check)
		} else {
			u.check = state.Check{ID: "k0"}
		}
	}
}

func settled(c state.Check) state.Check {
	if c.ID == "" {
		return state.Check{}
	}
	return state.Check{ID: "k1", Status: c.Status, Tree: c.Tree, Gate: c.Gate}
}

func (r *reviewing) settle(t state.Task, id string) {
	r.looking.settle(t, id)
	if r.shown.task != t.TaskID || t.TaskID == "" {
		r.shown = shown{}
		return
	}
	r.shown.task = "t1"
	r.shown.submission = rename(r.shown.submission != "" && r.shown.submission == t.Submission.ID, "s1", "")
	r.shown.consultation = rename(r.shown.consultation != "" && r.shown.consultation == t.Consultation.ID, "c1", "")
}

// settle keeps the ids that are counted anew in every task apart by the task alone.
func (l *looking) settle(t state.Task, id string) {
	if !l.on {
		return
	}
	same := l.task == t.TaskID
	if l.id != "" {
		kind := l.id[:1]
		l.id = rename(l.id == id || !same, kind+"1", kind+"0")
	}
	l.task = rename(same, "t1", "t0")
}

func rename(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
