package store

import (
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A Code names a kind of failure, for programs.
type Code string

const (
	NotInitialised Code = "not_initialised" // no machine here
	LockBusy       Code = "lock_busy"       // another process held the lock all the time
	StoreError     Code = "store_error"     // the disk refused; nothing was changed
	StoreGone      Code = "store_gone"      // the folder that was opened is no longer the one on disk
	OutcomeUnknown Code = "outcome_unknown" // the disk failed so late that the event may or may not stand
	Corrupt        Code = "corrupt"         // the journal contradicts itself; nothing is touched any more
	TooLarge       Code = "too_large"       // a document is over MaxDoc
	InvalidInput   Code = "invalid_input"   // a document is empty, blank, not UTF-8, or has a NUL
)

// An Error says what the store could not do, and what to do next.
type Error struct {
	Code   Code
	What   string // what failed, with its value
	Err    error  // the cause; nil when there is none beyond What
	Remedy string // what to do next
}

func (e *Error) Error() string {
	text := e.What
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", e.What, e.Err)
	}
	if e.Remedy == "" {
		return text
	}
	return text + "; " + e.Remedy
}

func (e *Error) Unwrap() error { return e.Err }

// Refusal returns what the error is to a caller.
func (e *Error) Refusal() *refusal.RefusedError {
	plain := *e
	plain.Remedy = ""
	return &refusal.RefusedError{Code: refusal.Code(e.Code), Message: plain.Error(), Remedy: e.Remedy}
}

// JournalName is the name of the file of a journal.
const JournalName = "journal.jsonl"

// CorruptJournal returns an *Error of code Corrupt that says what is wrong with the file of a journal.
func CorruptJournal(format string, args ...any) error {
	return &Error{Code: Corrupt, What: JournalName + ": " + fmt.Sprintf(format, args...),
		Remedy: "nothing was changed; run ferrus doctor"}
}

// ReadError returns the *Error of the file of a journal that could not be read.
func ReadError(err error) error {
	return &Error{Code: StoreError, What: "read " + JournalName, Err: err, Remedy: "check the disk"}
}

// ErrOlder is wrapped by the error of an Options.Judge that refuses a journal only because it lacks
// newer lines.
var ErrOlder = errors.New("the journal is older than last seen here")
