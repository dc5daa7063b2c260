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

// codes are the codes of the errors above.
var codes = map[error]refusal.Code{
	ErrUnknown:   refusal.WrongState,
	ErrExpired:   refusal.WrongState,
	ErrTaken:     refusal.WrongState,
	ErrInvalid:   refusal.InvalidInput,
	ErrAmbiguous: refusal.InvalidInput,
	ErrDamaged:   refusal.Corrupt,
	ErrUnsafe:    refusal.StoreError,
	ErrBusy:      refusal.LockBusy,
	ErrDisk:      refusal.StoreError,
}

// refuse returns a refusal that is of this kind.
func refuse(kind error, message string, remedy refusal.Own) error {
	return &refusal.RefusedError{Code: codes[kind], Message: message, Remedy: remedy, Cause: kind}
}

func invalid(what, allowed string) error {
	return refuse(ErrInvalid, what+" is not possible for a token", refusal.Say("allowed: %s", allowed))
}
