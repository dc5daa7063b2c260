package store

import (
	"errors"
	"fmt"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// JournalName is the name of the file of a journal.
const JournalName = "journal.jsonl"

// CorruptJournal returns a *refusal.RefusedError of code Corrupt that says what is wrong with the file of a journal.
func CorruptJournal(format string, args ...any) error {
	return &refusal.RefusedError{Code: refusal.Corrupt, Message: JournalName + ": " + fmt.Sprintf(format, args...),
		Remedy: "nothing was changed; run ferrus doctor{branch}"}
}

// ReadError returns the *refusal.RefusedError of the file of a journal that could not be read.
func ReadError(err error) error {
	return refusal.Because(refusal.StoreError, "read "+JournalName, err, "check the disk")
}

// ErrOlder is wrapped by the error of an Options.Judge that refuses a journal only because it lacks
// newer lines.
var ErrOlder = errors.New("the journal is older than last seen here")
