package config

import (
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

// TestTheReferencePageIsFresh: docs/config.md is made from the table of keys.
func TestTheReferencePageIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/config.md", string(Markdown()))
}
