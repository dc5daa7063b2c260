package restore

import (
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// maxNamed is how many edits are named one by one.
const maxNamed = 10

// Text names edits, and how to see them; it is "" for none.
func Text(edits []Edit) string {
	var parts []string
	for i, e := range edits {
		if i == maxNamed {
			parts = append(parts, fmt.Sprintf("and %d more", len(edits)-i))
			break
		}
		parts = append(parts, e.String())
	}
	return strings.Join(parts, "; ")
}

// WithEdits returns an error that also names the edits that were kept before it happened; nil for nil.
func WithEdits(err error, edits []Edit) error {
	if err == nil || len(edits) == 0 {
		return err
	}
	return refusal.Adding(err, ". "+Text(edits))
}
