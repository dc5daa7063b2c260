package tokens

import (
	"errors"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// Kinds of errors, for errors.Is.
var (
	ErrUnknown   = errors.New("no such token")
	ErrExpired   = errors.New("the token has expired")
	ErrTaken     = errors.New("the name already has a token")
	ErrInvalid   = errors.New("not a valid token")
	ErrAmbiguous = errors.New("more than one token")
	ErrDamaged   = errors.New("the file of the tokens is damaged")
	ErrUnsafe    = errors.New("the file of the tokens is not safe from others") // a link, no file, or open to others
	ErrBusy      = errors.New("the tokens are locked")
	ErrDisk      = errors.New("the tokens could not be read or written")
)

// An Error says what failed and what to do. Kind is one of the errors above.
type Error struct {
	Kind   error
	What   string
	Remedy refusal.Own
}

func (e *Error) Error() string { return e.What + "; " + e.Remedy.String() }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func invalid(what, allowed string) error {
	return &Error{Kind: ErrInvalid, What: what + " is not possible for a token", Remedy: refusal.Say("allowed: %s", allowed)}
}
