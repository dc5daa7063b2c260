package conductor

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the documentation anew")

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
	const page = "../../docs/conductor.md"
	if *update {
		if err := os.WriteFile(page, []byte(markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != markdown() {
		t.Errorf("%s is stale (%v); go test ./internal/conductor -update writes it", page, err)
	}
	for _, r := range rules {
		if !strings.Contains(string(got), "| "+r.when+" | "+r.then+" |") {
			t.Errorf("not there: %s", r.when)
		}
	}
}
