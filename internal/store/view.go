package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/state"
)

// View returns the machine as it is. It takes no lock unless the views lag behind the journal: STATE.json says where
// the newest line is, and the answer is that line, if nothing follows it. A read is linearizable: no acknowledged
// event is missing from it.
func (s *Store) View() (Snapshot, error) {
	if !s.atHome() {
		return Snapshot{}, s.gone()
	}
	if snap, ok := s.glance(); ok {
		return snap, nil
	}
	return s.Apply(context.Background(), func(Snapshot) (*Change, error) { return nil, nil })
}

// glance reads without the lock; ok is false when that does not settle it. The order matters: STATE.json, the line it
// names, the size of the journal last.
func (s *Store) glance() (snap Snapshot, ok bool) {
	idx, err := s.readIndex()
	if err != nil || !idx.whole {
		return Snapshot{}, false
	}
	journal, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return Snapshot{}, false
	}
	defer journal.Close()
	var top *Line
	if idx.Journal.Bytes > 0 {
		if top = s.lineIn(journal, idx.Journal); top == nil {
			return Snapshot{}, false
		}
	}
	info, err := journal.Stat()
	if err != nil || info.Size() != idx.Journal.Bytes {
		return Snapshot{}, false
	}
	snap = Snapshot{Task: state.New(), Top: top, Journal: idx.Journal}
	if top != nil {
		snap.Task = top.State
		s.parsed(top)
	}
	if snap.Task.ClaimedBy != "" {
		snap.Lease = idx.lease()
	}
	return snap, true
}

// Initialised reports whether dir holds a machine of ours.
func Initialised(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, journalFile))
	return !errors.Is(err, fs.ErrNotExist)
}
