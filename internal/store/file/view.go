package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/clock"
	"github.com/ferrus-go/ferrus/internal/store"
)

// View returns the present machine. It takes no lock unless the generated files are out of date:
// STATE.json says where the newest line is, and that line is the answer if nothing follows it.
// Reads are linearizable: every acknowledged event is visible.
func (s *Store) View() (store.Snapshot, error) {
	if !s.InPlace() {
		return store.Snapshot{}, s.gone()
	}
	if snap, ok := s.readFast(); ok {
		return snap, nil
	}
	if s.opts.ReadOnly {
		if _, err := s.readIndex(); isMoved(err) {
			return store.Snapshot{}, err
		}
		return s.replayAll()
	}
	return s.Apply(context.Background(), func(store.Snapshot) (*store.Change, error) { return nil, nil })
}

// replayAll reads the whole journal and writes nothing.
func (s *Store) replayAll() (store.Snapshot, error) {
	var top *store.Line
	for l, err := range s.History() {
		if err != nil {
			return store.At(top), err
		}
		top = l
	}
	return store.At(top), nil
}

// readFast reads without the lock; ok is false if that is not possible. The order matters: first
// STATE.json, which names an acknowledged line, then the size of the journal, which shows that no
// other line followed.
func (s *Store) readFast() (snap store.Snapshot, ok bool) {
	idx, err := s.readIndex()
	if err != nil || !idx.whole {
		return store.Snapshot{}, false
	}
	var top *store.Line
	err = s.withJournal(func(journal io.ReaderAt, size int64) (err error) {
		ok = size == idx.Journal.Bytes
		if ok {
			top, err = s.lineIn(journal, idx.Journal, size)
		}
		return err
	})
	snap = store.At(top)
	if err != nil || !ok || snap.Journal != idx.Journal {
		return store.Snapshot{}, false
	}
	s.remember(top, idx)
	return snapshot(top, idx), true
}

// snapshot returns the machine that a line and its STATE.json describe.
func snapshot(top *store.Line, idx index) store.Snapshot {
	snap := store.At(top)
	if snap.Task.ClaimedBy != "" {
		snap.Lease = idx.lease()
	}
	return snap
}

// withJournal calls read with the journal and its size. It reuses the open journal that was judged,
// unless another file has replaced it.
func (s *Store) withJournal(read func(journal io.ReaderAt, size int64) error) error {
	if held, err := s.judged.read(s.disk, read); held {
		return err
	}
	journal, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer journal.Close()
	info, err := journal.Stat()
	if err != nil {
		return store.ReadError(err)
	}
	return read(journal, info.Size())
}

// Clock reads the monotonic clock of this computer.
func (s *Store) Clock() lease.Instant { return clock.Read() }

// Initialised reports whether dir contains a machine of ferrus.
func Initialised(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, journalFile))
	return !errors.Is(err, fs.ErrNotExist)
}
