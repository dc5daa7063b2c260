// Package refusal has the error that everybody who is refused something gets: a code for programs, what could not be, why,
// and what helps. It gives the errors of lower packages such a code and remedy.
package refusal

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state"
)

// A Code names the kind of a refusal, for programs.
type Code string

const (
	WrongState       Code = "wrong_state"       // the table has no such move in this state
	ForbiddenRole    Code = "forbidden_role"    // the role may never do this
	NotClaimed       Code = "not_claimed"       // this session does not hold the work, and never did
	LeaseLost        Code = "lease_lost"        // this session held the work and does not now
	StaleReview      Code = "stale_review"      // the reviewer was shown something else, or nothing
	DelegatesRunning Code = "delegates_running" // a delegate is open; it must end first
	CheckRunning     Code = "check_running"     // the gate runs; it must end first
	TreeChanged      Code = "tree_changed"      // the work tree is not the one that was checked or submitted
	FilesElsewhere   Code = "files_elsewhere"   // another computer has newer files of the task
	Conflict         Code = "conflict"          // two pieces of work do not fit together
	InvalidInput     Code = "invalid_input"     // an argument is wrong
	TooLarge         Code = "too_large"         // an argument is too long
	LockBusy         Code = "lock_busy"         // another process holds the store's lock
	StoreError       Code = "store_error"       // the disk or git refused; nothing was changed
	StoreGone        Code = "store_gone"        // .ferrus was removed or replaced
	OutcomeUnknown   Code = "outcome_unknown"   // the disk failed too late to tell
	InternalTimeout  Code = "internal_timeout"  // a call did not end within twice its longest time; what it had begun may still happen
	Corrupt          Code = "corrupt"           // the journal contradicts itself
	NotInitialised   Code = "not_initialised"   // no .ferrus here
	UnknownBranch    Code = "unknown_branch"    // the project has no branch of that name
	ConfigChanged    Code = "config_changed"    // an agent fails, and ferrus.toml no longer names the one that is frozen with the task
	ForeignState     Code = "foreign_state"     // what lies in .ferrus was not made here
	Untrusted        Code = "untrusted"         // a person has not agreed to what the project's files make run
)

// A RefusedError says what could not be, why, and what helps. Nothing was changed by what was refused, unless the code is
// OutcomeUnknown.
type RefusedError struct {
	Code    Code
	Message string
	Remedy  Own
	Wrong   *state.RefusedError // what the table said, when it was the table that refused
	Person  bool                // only a person can help: an agent stops
	Cause   error               // what it wraps, whose text the message has; nil where there is none
	Output  string              // the end of what a command of the project printed that failed, clean and bounded; not for notifications
	Also    []*RefusedError     // what else stands in the way, see Together; none of them has more
}

// Because returns the refusal of something that failed for a cause, whose text ends the message. what says what failed, with its value.
func Because(code Code, what string, cause error, remedy Own) *RefusedError {
	message := what
	if cause != nil {
		message += ": " + cause.Error()
	}
	return &RefusedError{Code: code, Message: message, Remedy: remedy, Cause: cause}
}

// Unwrap returns the cause.
func (r *RefusedError) Unwrap() error { return r.Cause }

func (r *RefusedError) Error() string {
	text := r.Message
	if r.Remedy != "" {
		text += "; " + r.Remedy.String()
	}
	for _, also := range r.Also {
		text += "\n" + also.Error()
	}
	return text
}

// A Kind is an error that other errors wrap: it gives them a code and says what helps, they say what happened.
type Kind struct {
	Code   Code
	Text   string // the error itself, where nothing wraps it
	Remedy Own
	Person bool // only a person can help
}

func (k *Kind) Error() string { return k.Text }

// Refusal returns the refusal without a message: what is refused is said by the error that wraps the kind.
func (k *Kind) Refusal() *RefusedError {
	return &RefusedError{Code: k.Code, Remedy: k.Remedy, Person: k.Person}
}

// A refuser says itself what it is as a refusal. The message is that of the whole error that wraps it.
type refuser interface{ Refusal() *RefusedError }

// kinds are the codes of errors of packages that know nothing of ferrus, by what errors.Is finds.
var kinds = []struct {
	err    error
	code   Code
	remedy Own
}{
	{filelock.ErrHeld, LockBusy, "try again when the other process is done"},
	{rootfs.ErrLink, ForeignState, "see where it leads first; ferrus doctor{branch} --fix removes it"},
	{rootfs.ErrNotRegular, StoreError, "then try again"},
	{rootfs.ErrIsDir, StoreError, "then try again"},
	{rootfs.ErrNotDir, StoreError, "then try again"},
	{rootfs.ErrTooLarge, StoreError, "then try again"},
	{rootfs.ErrUnreadable, StoreError, "remove what is not needed of it, then try again"},
	{rootfs.ErrName, InvalidInput, "take another name"},
	{rootfs.ErrChanged, StoreError, "try again"},
	{rootfs.ErrCrossDevice, StoreError, "put both on one file system, then try again"},
	{fs.ErrPermission, StoreError, "make it readable and writable for you, then try again"},
	{context.DeadlineExceeded, StoreError, "try again; ferrus doctor{branch} says what is slow"},
}

// From turns what the table of the state machine refused into a refusal; any other error stays as it is.
func From(err error) error {
	var mine *RefusedError
	var wrong *state.RefusedError
	if errors.As(err, &mine) || !errors.As(err, &wrong) {
		return err
	}
	code := WrongState
	if wrong.Forbidden() {
		code = ForbiddenRole
	}
	return &RefusedError{Code: code, Message: wrong.Error(), Wrong: wrong}
}

// Of returns the refusal that an error is, or that fits an error of a lower package; nil for any other error.
func Of(err error) *RefusedError {
	var mine *RefusedError
	var of refuser
	switch {
	case errors.As(From(err), &mine):
		return mine
	case errors.As(err, &of):
		r := of.Refusal()
		r.Message = err.Error()
		return r
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return &RefusedError{Code: k.code, Message: err.Error(), Remedy: k.remedy}
		}
	}
	return nil
}

// CodeOf returns the code of a refusal, "" for any other error.
func CodeOf(err error) Code {
	var r *RefusedError
	if errors.As(From(err), &r) {
		return r.Code
	}
	return ""
}

// OutputOf returns the Output of a refusal, "" for any other error.
func OutputOf(err error) string {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Output
	}
	return ""
}

// Git returns the refusal for an error of git, or of the files that it was asked about.
func Git(err error) error {
	if errors.As(err, new(refuser)) {
		return Of(err)
	}
	return &RefusedError{Code: StoreError, Message: "the work tree cannot be read: " + err.Error(),
		Remedy: "fix what it names, then try again"}
}

// Config returns the refusal for a ferrus.toml, or a configuration of the person, that cannot be read.
func Config(err error) error {
	return &RefusedError{Code: InvalidInput, Message: err.Error(), Person: true,
		Remedy: "a person must fix ferrus.toml; ferrus config check{branch} tells when it is valid"}
}

// Folder turns an error of rootfs into a refusal that a person sees to.
func Folder(err error) error {
	if err == nil {
		return nil
	}
	if r := Of(err); r != nil {
		r.Person = true
		return r
	}
	return &RefusedError{Code: StoreError, Message: err.Error(), Remedy: "check whether the folder can be read and written, then try again"}
}
