package agents

import (
	"testing"

	"github.com/ferrus-go/ferrus/test/golden"
)

func TestTheReferencePageIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/agents.md", string(Markdown()))
}
