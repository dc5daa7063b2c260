//go:build unix

package notify

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// TestNoEntryLeadsAnOutboxOutside lays links, FIFOs and huge files in place of what an outbox reads, locks and writes.
func TestNoEntryLeadsAnOutboxOutside(t *testing.T) {
	paths := []string{".ferrus", ".ferrus/live", ".ferrus/live/" + recordFile, ".ferrus/live/" + recordLock, ".ferrus/live/" + sendingLock}
	setup := func(t *testing.T, dir string) {
		if err := os.MkdirAll(filepath.Join(dir, ".ferrus", "live"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range paths[2:] {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := Channels{Command: "exit 1"}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error {
		b := OpenOutbox(c.Dir)
		_, failures := b.Failures(to)
		_, tested := b.Test(t.Context(), to, item("q0").Message)
		return errors.Join(failures, tested, b.Tell(t.Context(), to, item("q1")), b.Send(t.Context(), to), b.Withdraw("task"))
	})
}
