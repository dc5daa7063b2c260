package config

import (
	"bytes"
	"os"
	"testing"
)

// TestTheReferencePageIsFresh: docs/config.md is made from the table of keys.
func TestTheReferencePageIsFresh(t *testing.T) {
	const page = "../../docs/config.md"
	if *update {
		if err := os.WriteFile(page, Markdown(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, Markdown()) {
		t.Errorf("%s is stale (%v); go test ./internal/config -update writes it", page, err)
	}
}
