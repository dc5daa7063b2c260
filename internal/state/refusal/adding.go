package refusal

import (
	"errors"
	"fmt"
)

// Adding returns an error with a text added to its message: a refusal stays one. An error that embeds a RefusedError has a
// method Adding of its own.
func Adding(err error, text string) error {
	var own interface{ Adding(text string) error }
	if errors.As(err, &own) {
		return own.Adding(text)
	}
	return fmt.Errorf("%w%s", err, text)
}

// Adding returns the refusal with a text added to its message.
func (r *RefusedError) Adding(text string) error {
	named := *r
	named.Message += text
	return &named
}
