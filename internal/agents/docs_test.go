package agents

import (
	"bytes"
	"os"
	"testing"
)

func TestTheReferencePageIsFresh(t *testing.T) {
	const page = "../../docs/agents.md"
	if *update {
		if err := os.WriteFile(page, Markdown(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, Markdown()) {
		t.Errorf("%s is stale (%v); go test ./internal/agents -update writes it", page, err)
	}
}
