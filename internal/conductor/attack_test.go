package conductor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/filelock"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// TestNoEntryLeadsAConductorOutside lays links, FIFOs and huge files in place of what a conductor locks and writes.
func TestNoEntryLeadsAConductorOutside(t *testing.T) {
	paths := []string{".ferrus", ".ferrus/live", ".ferrus/live/hq.lock", ".ferrus/parallel", ".ferrus/parallel/live"}
	setup := func(t *testing.T, dir string) {
		for _, name := range []string{".ferrus/live/hq.lock", ".ferrus/parallel/live/hq.lock"} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("old"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rootfstest.Attack(t, paths, setup, func(t *testing.T, c rootfstest.Case) error {
		home := filepath.Join(c.Dir, ".ferrus")
		var errs []error
		for _, dir := range []string{home, filepath.Join(home, "parallel")} {
			if h, held := Conductor(dir); held {
				t.Errorf("held by %+v", h)
			}
			lock, err := Hold(dir)
			if err == nil {
				if h, held := Conductor(dir); !held || h.Pid != os.Getpid() {
					t.Errorf("held by %+v: %v", h, held)
				}
				err = lock.Close()
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

// TestAHolderThatCanBeNoProcessIsNobody: the record is read, and shown to a person, while the lock is held.
func TestAHolderThatCanBeNoProcessIsNobody(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, liveDir, lockFile)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for _, text := range []string{"", "{}", `{"pid":-1}`, `{"pid":4294967297}`, `{"pid":"1"}`, `{"pid":9223372036854775808}`, "[]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, held := Conductor(dir); held {
			t.Errorf("%s is %+v", text, h)
		}
	}
}
