package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// View returns the machine as it is. It takes no lock unless the views lag behind the journal: STATE.json says where
// the newest line is, and the answer is that line, if nothing follows it. A read is linearizable: no acknowledged
// event is missing from it.
func (s *Store) View() (Snapshot, error) {
	if !s.InPlace() {
		return Snapshot{}, s.gone()
	}
	if snap, ok := s.readFast(); ok {
		return snap, nil
	}
	if s.opts.ReadOnly {
		return s.replayAll()
	}
	return s.Apply(context.Background(), func(Snapshot) (*Change, error) { return nil, nil })
}

// replayAll reads all of the journal, and writes nothing.
func (s *Store) replayAll() (Snapshot, error) {
	var top *Line
	for l, err := range s.History() {
		if err != nil {
			return at(top), err
		}
		top = l
	}
	return at(top), nil
}

// readFast reads without the lock; ok is false when that does not settle it. The order matters: STATE.json, which names
// an acknowledged line, then the size of the journal, which says that no other line followed.
func (s *Store) readFast() (snap Snapshot, ok bool) {
	idx, err := s.readIndex()
	if err != nil || !idx.whole {
		return Snapshot{}, false
	}
	var top *Line
	err = s.withJournal(func(journal io.ReaderAt, size int64) (err error) {
		ok = size == idx.Journal.Bytes
		if ok {
			top, err = s.lineIn(journal, idx.Journal, size)
		}
		return err
	})
	snap = at(top)
	if err != nil || !ok || snap.Journal != idx.Journal {
		return Snapshot{}, false
	}
	s.remember(top, idx)
	return snapshot(top, idx), true
}

// snapshot returns the machine that a line and the STATE.json that names it show.
func snapshot(top *Line, idx index) Snapshot {
	snap := at(top)
	if snap.Task.ClaimedBy != "" {
		snap.Lease = idx.lease()
	}
	return snap
}

// withJournal calls read with the journal and its size. The one that was judged is still open, unless another has taken its
// place.
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
		return unread(err)
	}
	return read(journal, info.Size())
}

// Initialised reports whether dir holds a machine of ours.
func Initialised(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, journalFile))
	return !errors.Is(err, fs.ErrNotExist)
}
