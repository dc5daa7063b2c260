package register

import (
	"fmt"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A fault is what stands in a text that must not be touched as it is.
type fault struct {
	line    int // from 1
	message string
	remedy  refusal.Own // "" says that the file must be fixed
}

func (f *fault) Error() string { return f.message }

// refuse returns the refusal where nothing was written because of a file, which the message names as it is shown, with its line from 1;
// 0 means no line.
func refuse(file string, line int, message string, remedy refusal.Own) *refusal.RefusedError {
	if line > 0 {
		file = fmt.Sprintf("%s:%d", file, line)
	}
	return &refusal.RefusedError{Code: refusal.InvalidInput, Message: file + ": " + message, Remedy: remedy}
}
