package trust

import (
	"os"
	"slices"
	"testing"
	"time"
)

// TestARecordIsSweptLongAfterItsFolderIsGone, and not before: a folder that comes back begins anew.
func TestARecordIsSweptLongAfterItsFolderIsGone(t *testing.T) {
	root, _ := place(t)
	sweep := func(now time.Time, want ...string) {
		t.Helper()
		for _, dry := range []bool{true, false} {
			if got, err := Sweep(now, 90*24*time.Hour, dry); !slices.Equal(got, want) || err != nil {
				t.Errorf("dry %v: %q, %v; want %q", dry, got, err, want)
			}
		}
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	sweep(now)
	p := open(t, root)
	if err := p.Agree(some); err != nil {
		t.Fatal(err)
	}
	sweep(now.AddDate(10, 0, 0))
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	sweep(now)
	sweep(now.AddDate(0, 0, 89))
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	agreed(t, p, some, true)
	if err := p.Update(func(*Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	sweep(now.AddDate(0, 0, 91))
	sweep(now.AddDate(0, 0, 180))
	sweep(now.AddDate(0, 0, 181), root)
	sweep(now.AddDate(0, 0, 182))
}
