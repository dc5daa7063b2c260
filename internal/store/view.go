package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	if s.opts.ReadOnly {
		return s.replay()
	}
	return s.Apply(context.Background(), func(Snapshot) (*Change, error) { return nil, nil })
}

// replay reads all of the journal, and writes nothing.
func (s *Store) replay() (Snapshot, error) {
	var top *Line
	for l, err := range s.History() {
		if err != nil {
			return at(top), err
		}
		top = l
	}
	return at(top), nil
}

// glance reads without the lock; ok is false when that does not settle it. The order matters: STATE.json, which names
// an acknowledged line, then the size of the journal, which says that no other line followed.
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
	info, err := journal.Stat()
	if err != nil || info.Size() != idx.Journal.Bytes {
		return Snapshot{}, false
	}
	top, err := s.lineIn(journal, idx.Journal, info.Size())
	if err != nil {
		return Snapshot{}, false
	}
	snap = at(top)
	if snap.Journal != idx.Journal {
		return Snapshot{}, false
	}
	s.remember(top, idx)
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
