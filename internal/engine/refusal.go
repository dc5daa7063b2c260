package engine

import (
	"errors"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A Code names the kind of a refusal, for programs.
type Code string

const (
	WrongState      Code = "wrong_state"      // the table has no such move in this state
	ForbiddenRole   Code = "forbidden_role"   // the role may never do this
	NotClaimed      Code = "not_claimed"      // this session does not hold the work, and never did
	LeaseLost       Code = "lease_lost"       // this session held the work and does not now
	StaleReview     Code = "stale_review"     // the reviewer was shown something else, or nothing
	CheckRunning    Code = "check_running"    // the gate runs; it must end first
	TreeChanged     Code = "tree_changed"     // the work tree is not the one that was checked or submitted
	Conflict        Code = "conflict"         // two pieces of work do not fit together
	InvalidInput    Code = "invalid_input"    // an argument is wrong
	TooLarge        Code = "too_large"        // an argument is too long
	LockBusy        Code = "lock_busy"        // another process holds the store's lock
	StoreError      Code = "store_error"      // the disk or git refused; nothing was changed
	StoreGone       Code = "store_gone"       // .ferrus was removed or replaced
	OutcomeUnknown  Code = "outcome_unknown"  // the disk failed too late to tell
	InternalTimeout Code = "internal_timeout" // a call did not end within twice its longest time; what it had begun may still happen
	Corrupt         Code = "corrupt"          // the journal contradicts itself
	NotInitialised  Code = "not_initialised"  // no .ferrus here
	ForeignState    Code = "foreign_state"    // what lies in .ferrus was not made here
	Untrusted       Code = "untrusted"        // a person has not agreed to what the project's files make run
)

// A Refusal says what could not be, why, and what helps. Nothing was changed by what was refused, unless the code is
// OutcomeUnknown.
type Refusal struct {
	Code    Code
	Message string
	Remedy  string
	Wrong   *state.RefusedError // what the table said, when it was the table that refused
	Person  bool                // only a person can help: an agent stops
}

func (r *Refusal) Error() string {
	if r.Remedy == "" {
		return r.Message
	}
	return r.Message + "; " + r.Remedy
}

// refusal turns what lower rooms say into a Refusal; an error that is none of theirs stays as it is.
func refusal(err error) error {
	var mine *Refusal
	var wrong *state.RefusedError
	var disk *store.Error
	switch {
	case err == nil || errors.As(err, &mine):
		return err
	case errors.As(err, &wrong):
		code := WrongState
		if wrong.Forbidden() {
			code = ForbiddenRole
		}
		return &Refusal{Code: code, Message: wrong.Error(), Wrong: wrong}
	case errors.As(err, &disk):
		plain := *disk
		plain.Remedy = ""
		return &Refusal{Code: Code(disk.Code), Message: plain.Error(), Remedy: disk.Remedy}
	}
	return err
}

// CodeOf returns the code of a refusal, "" for any other error.
func CodeOf(err error) Code {
	var r *Refusal
	if errors.As(refusal(err), &r) {
		return r.Code
	}
	return ""
}
