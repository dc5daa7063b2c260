package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reporter is a test that notes its failures.
type reporter struct {
	testing.TB
	said string
}

func (r *reporter) Helper() {}

func (r *reporter) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }

// TestAnotherTextIsAFailure that shows the line, and -update ends it.
func TestAnotherTextIsAFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.golden")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails := func(text string) string {
		r := &reporter{TB: t}
		Check(r, file, text)
		return r.said
	}
	defer func(was bool) { *update = was }(*update)
	*update = false
	if said := fails("one\ntwo\n"); said != "" {
		t.Error(said)
	}
	if said := fails("one\nthree\n"); !strings.Contains(said, "is stale") || !strings.Contains(said, "three") {
		t.Errorf("another line: %q", said)
	}
	if said := fails("one\ntwo"); !strings.Contains(said, "is stale") {
		t.Errorf("without the last line feed: %q", said)
	}
	*update = true
	if said := fails("one\nthree\n"); said != "" {
		t.Error(said)
	}
	*update = false
	if said := fails("one\nthree\n"); said != "" {
		t.Error(said)
	}
}
