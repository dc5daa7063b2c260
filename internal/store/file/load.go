package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Bounds of what is read.
const (
	maxIndex = 16 << 20 // STATE.json
	maxView  = 4 << 20  // a document's file, possibly edited
)

// A lockedState is the machine as read under the lock.
type lockedState struct {
	store.Snapshot
	stale []state.Doc // documents whose files are not as the journal has them
	shown bool        // STATE.json is up to date
	edits []edit      // generated files that were changed from outside
}

// An edit is a generated file that was changed from outside.
type edit struct {
	name string
	data []byte // the new content; nil when it was removed
	sha  string // of data; "" when it was removed
}

// load reads the machine under the lock. It reads from the line that STATE.json names to the newest
// one, and cuts off a torn tail.
func (s *Store) load(journal file) (lockedState, error) {
	idx, err := s.readIndex()
	if err != nil {
		return lockedState{}, err
	}
	r, err := s.replay(journal, idx)
	if err != nil {
		return lockedState{}, err
	}
	now := lockedState{Snapshot: store.At(r.newest)}
	if r.named != nil && now.Task.ClaimedBy != "" && sameHolder(r.named.State, now.Task) {
		now.Lease = idx.lease()
	}
	if !idx.genuine {
		idx.genuine = idx.whole && idx.of(store.At(r.named))
	}
	now.shown = idx.genuine && idx.Journal == now.Journal
	if now.shown {
		s.remember(r.newest, idx)
	}
	if sha := store.Digest(idx.raw); !idx.genuine && !damaged(idx.raw) && !r.past[viewKey(stateFile, sha)] {
		now.edits = append(now.edits, edit{stateFile, idx.raw, sha})
	}
	if err := s.checkViews(&now, r.past); err != nil {
		return lockedState{}, err
	}
	return now, nil
}

// damaged reports whether a generated file is missing, empty or has a NUL. A power cut leaves such
// a file, because they are replaced without a sync; so it need not be an edit.
func damaged(view []byte) bool { return len(view) == 0 || bytes.IndexByte(view, 0) >= 0 }

// readIndex reads STATE.json. Another schema is an error: such a file is never overwritten.
func (s *Store) readIndex() (index, error) {
	raw, err := slurp(s.disk, stateFile, maxIndex)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return index{}, nil
	case err != nil:
		return index{}, refusal.Because(refusal.StoreError, "read "+stateFile, err, "run ferrus doctor{branch}")
	}
	if idx, ok := s.recall(raw); ok {
		return idx, nil
	}
	idx := parseIndex(raw)
	if idx.version == movedVersion {
		return index{}, s.moved()
	}
	if idx.version != 0 && idx.version != state.SchemaVersion {
		return index{}, refusal.Because(refusal.StoreError, "read "+stateFile, &state.SchemaError{Version: idx.version}, "")
	}
	return idx, nil
}

// keep saves a copy of something found into logs, if that is possible.
func (s *Store) keep(name string, data []byte) (kept bool) {
	err := s.disk.mkdir(logDir)
	if err == nil {
		_, err = publish(s.disk, logDir+"/"+name, data)
	}
	if err != nil {
		s.log.Warn("copy not kept", "file", name, "error", err)
	}
	return err == nil
}

// openJournal opens the journal.
func (s *Store) openJournal(flag int) (file, error) {
	f, err := s.disk.open(journalFile, flag)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.noJournal()
	case err != nil:
		return nil, refusal.Because(refusal.StoreError, "open "+journalFile, err,
			"check whether the folder is writable")
	}
	if err := s.judge(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// noJournal returns the error of a missing journal.
func (s *Store) noJournal() error {
	if _, err := s.readIndex(); err != nil {
		return err
	}
	if backup := s.backup(); backup != "" {
		if _, err := os.Lstat(backup); err == nil {
			return &refusal.RefusedError{Code: refusal.NotInitialised, Message: s.dir + " has lost its journal",
				Remedy: "run ferrus doctor{branch} --fix, which restores it from its hard-linked copy"}
		}
	}
	return &refusal.RefusedError{Code: refusal.NotInitialised, Message: s.dir + " has no journal", Remedy: "run ferrus init"}
}

// cached has the newest line that this process has parsed and the STATE.json that names it.
// Unchanged bytes are only hashed and compared again.
type cached struct {
	line *store.Line
	idx  index
}

// remember stores the newest line and the STATE.json that names it.
func (s *Store) remember(top *store.Line, idx index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.top = cached{top, idx}
}

// Last returns the machine as this process read it last, without reading again; false if it has not
// read it yet.
func (s *Store) Last() (store.Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.top.line == nil {
		return store.Snapshot{}, false
	}
	return snapshot(s.top.line, s.top.idx), true
}

// recall returns the parsed STATE.json when its bytes are those that were parsed last.
func (s *Store) recall(raw []byte) (index, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.top.idx, len(raw) > 0 && bytes.Equal(s.top.idx.raw, raw)
}

// line returns the newest parsed line if it is the one at p, otherwise nil.
func (s *Store) line(p store.Position) *store.Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.top.line; l != nil && l.H == p.H && l.Off == p.Last && l.End == p.Bytes {
		return l
	}
	return nil
}

func editedName(name string, seq uint64) string { return fmt.Sprintf("edited-%s-%d", name, seq) }
