package conductor

import (
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/test/golden"
)

// markdown is the page about the conductor, around its two tables.
func markdown() string {
	return `# The conductor

Generated from ` + "`internal/conductor`" + `; ` + "`go test ./internal/conductor -update`" + ` writes it. ` + "`ferrus\nrun --explain`" + ` prints the same tables.

` + "`ferrus run`" + ` and ` + "`ferrus resume`" + ` are one loop. It reads the state and which
agents are alive, looks both up in the tables below, does the one thing that
they say, and waits until something changes. It stores nothing else: if it is
killed and started again, it continues from the files. A task has one conductor
at a time. The section ` + "`[hq]`" + ` of ` + "`ferrus.toml`" + ` names the agents that it starts.

` + Explain()
}

// TestTheReferencePageIsFresh: docs/conductor.md is made from the tables.
func TestTheReferencePageIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/conductor.md", markdown())
	for _, r := range rules {
		if !strings.Contains(markdown(), "| "+r.when+" | "+r.then+" |") {
			t.Errorf("not there: %s", r.when)
		}
	}
}
