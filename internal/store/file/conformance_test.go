package file

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/storetest"
)

// kind is this store for the tests of all stores.
var kind = storetest.Kind{
	New: func(t testing.TB) storetest.Place {
		dir := filepath.Join(t.TempDir(), ".ferrus")
		s, _, err := Create(dir, Options{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		return place(dir)
	},
	Open:  openWaiting(time.Minute),
	Hurry: openWaiting(time.Millisecond),
}

// openWaiting opens a machine whose calls wait so long for its lock.
func openWaiting(wait time.Duration) func(address string) (store.Machine, error) {
	return func(address string) (store.Machine, error) {
		s, err := Open(address, Options{Log: quiet, LockWait: wait})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// place is a machine in a folder.
func place(dir string) storetest.Place {
	return storetest.Place{
		Address: dir,
		Alter: func(t testing.TB, off int64) {
			path := filepath.Join(dir, journalFile)
			raw := []byte(read(t, path))
			raw[off+10] ^= 1
			must(0, os.WriteFile(path, raw, 0o600))
		},
		Import: func(t testing.TB, journal []byte) (storetest.Place, error) {
			to := filepath.Join(t.TempDir(), ".ferrus")
			must(0, os.Mkdir(to, 0o700))
			return place(to), os.WriteFile(filepath.Join(to, journalFile), journal, 0o600)
		},
		Branch: func(t testing.TB) (store.Branch, storetest.Place) {
			name := uuid.NewString()
			to := filepath.Join(t.TempDir(), name)
			return store.Branch{Name: name, Draft: to + ".draft", Dir: to, Backup: func() string { return "" }}, place(to)
		},
		Forked: func(t testing.TB, to storetest.Place) bool {
			_, err := os.Lstat(to.Address)
			return err == nil
		},
	}
}

func TestConformance(t *testing.T) { storetest.Run(t, kind) }
