package state

import "slices"

// A Delegate is a part of a task that its executor gave to another agent, which works on a branch of
// its own. The executor supervises that branch.
type Delegate struct {
	ID      string      `json:"id"`               // d1
	Branch  string      `json:"branch"`           // where it is worked on
	Base    string      `json:"base,omitempty"`   // the tree that it starts with
	Variant Variant     `json:"variant,omitzero"` // its agent; the zero one is that of the task
	Off     int64       `json:"off"`              // of the line that started it, which has its text
	Seq     uint64      `json:"seq,omitempty"`    // the newest line of its branch that was known when this line was written
	Decided Verdict     `json:"decided,omitzero"`
	Merged  string      `json:"merged,omitempty"` // the tree that its merge into the work tree made; "" until then
	Ended   DelegateEnd `json:"ended,omitempty"`  // "" while it is open
}

// A Verdict is the executor's newest decision about a delegate.
type Verdict struct {
	On   string `json:"on"`   // the id of the submission or the consultation that it is about
	What Ruling `json:"what"` // what was decided
	Off  int64  `json:"off"`  // of the line that has its text
}

// A Ruling is what an executor can decide about a delegate.
type Ruling string

const (
	RuledApprove Ruling = "approve" // the submission: its change moves into the executor's work tree
	RuledReject  Ruling = "reject"  // the submission: it goes back
	RuledAnswer  Ruling = "answer"  // the consultation
)

// A DelegateEnd says how a delegate ended.
type DelegateEnd string

const (
	DelegateComplete  DelegateEnd = "complete"  // its change is in the executor's work tree
	DelegateFailed    DelegateEnd = "failed"    // it cannot go on without a person
	DelegateLost      DelegateEnd = "lost"      // its branch was removed, or belongs to another machine
	DelegateCancelled DelegateEnd = "cancelled" // the task ended before it
)

// A Parent says for which machine and which of its delegates a branch works. The zero Parent is that
// of a task of its own.
type Parent struct {
	Branch string `json:"branch"` // "" for the project's own machine
	Seq    uint64 `json:"seq"`    // the line of the parent that started the delegate
	ID     string `json:"id"`     // d1
}

// The events of delegates.
const (
	DelegateStarted      Event = "delegate_started"       // the executor gives a part of the task to another agent
	DelegateDecided      Event = "delegate_decided"       // what the executor decided about its submission or its question
	DelegateMergeStarted Event = "delegate_merge_started" // the files of its work are being moved in; only the merge ends that, a rollback or a reset
	DelegateMerged       Event = "delegate_merged"        // they are in
	DelegateDone         Event = "delegate_done"          // it has ended, in whatever way
)

// MaxDelegates is the largest number of delegates that a task can have.
const MaxDelegates = MaxRecords

// Open reports whether the delegate has not ended.
func (d Delegate) Open() bool { return d.Ended == "" }

// Delegate returns the delegate of that id, and whether there is one.
func (t Task) Delegate(id string) (Delegate, bool) {
	i := slices.IndexFunc(t.Delegates, func(d Delegate) bool { return d.ID == id })
	if i < 0 {
		return Delegate{}, false
	}
	return t.Delegates[i], true
}

// SetDelegate replaces the delegate of that id, or adds it.
func (t *Task) SetDelegate(d Delegate) {
	i := slices.IndexFunc(t.Delegates, func(o Delegate) bool { return o.ID == d.ID })
	if i < 0 {
		t.Delegates = append(t.Delegates, d)
		return
	}
	t.Delegates[i] = d
}

// OpenDelegates returns the delegates that have not ended.
func (t Task) OpenDelegates() []Delegate {
	return slices.DeleteFunc(slices.Clone(t.Delegates), func(d Delegate) bool { return !d.Open() })
}

// endDelegates ends every open delegate.
func (t *Task) endDelegates(how DelegateEnd) {
	for i := range t.Delegates {
		if t.Delegates[i].Open() {
			t.Delegates[i].Ended = how
		}
	}
}
