package checks

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs/rootfstest"
)

// TestNoEntryLeadsALogOutside lays links, FIFOs and huge files in place of the log of a check and of its folder.
func TestNoEntryLeadsALogOutside(t *testing.T) {
	const log = ".ferrus/logs/check-k1.log"
	setup := func(t *testing.T, dir string) {
		path := filepath.Join(dir, log)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("old"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	rootfstest.Attack(t, []string{".ferrus", ".ferrus/logs", log}, setup, func(t *testing.T, c rootfstest.Case) error {
		made, err := create(filepath.Join(c.Dir, log), 0, 1)
		if err != nil {
			return err
		}
		made.write([]byte("new"))
		return made.close()
	})
}
