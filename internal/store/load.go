package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/state"
)

// cached is the newest line that this process has parsed, and the STATE.json known to show it, so that what has not
// changed is only hashed and compared again.
type cached struct {
	line  *Line
	shown []byte
}

// An edit is a view that somebody changed from outside.
type edit struct {
	name string
	data []byte
}

// load reads the machine as a holder of the lock: it rolls the views forward, cuts a torn tail, and returns the views
// that were edited, which it has put back.
func (s *Store) load(journal file) (Snapshot, []edit, error) {
	idx, err := s.readIndex()
	if err != nil {
		return Snapshot{}, nil, err
	}
	info, err := journal.Stat()
	if err != nil {
		return Snapshot{}, nil, err
	}
	snap, behind, err := s.roll(journal, info.Size(), idx)
	if err != nil {
		return Snapshot{}, nil, err
	}
	if idx.whole {
		snap.Lease = idx.lease()
	}
	if snap.Task.ClaimedBy == "" {
		snap.Lease = Lease{}
	}
	var edits []edit
	switch {
	case behind || len(idx.raw) == 0:
	case s.knows(snap.Top, idx.raw):
	case idx.whole && idx.shows(snap.Task):
		s.remember(snap.Top, idx.raw)
	default:
		edits = append(edits, edit{stateFile, idx.raw})
	}
	more, err := s.checkViews(snap, behind)
	if err != nil {
		return Snapshot{}, nil, err
	}
	edits = append(edits, more...)
	if behind || !idx.whole || len(edits) > 0 {
		s.show(snap, edits)
	}
	return snap, edits, nil
}

// readIndex reads STATE.json. Another schema is an error: it is never overwritten.
func (s *Store) readIndex() (index, error) {
	raw, err := slurp(s.disk, stateFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return index{}, nil
	case err != nil:
		return index{}, &Error{Code: StoreError, What: "read " + stateFile, Err: err, Remedy: "run ferrus doctor"}
	}
	idx := parseIndex(raw)
	if idx.version != 0 && idx.version != state.SchemaVersion {
		return index{}, &Error{Code: StoreError, What: "read " + stateFile, Err: &state.SchemaError{Version: idx.version}}
	}
	return idx, nil
}

// roll finds the newest line, from where STATE.json says or else from the start, and cuts what is torn after it.
// behind says that the journal has more than STATE.json shows.
func (s *Store) roll(journal file, size int64, idx index) (snap Snapshot, behind bool, err error) {
	var top *Line
	if idx.whole && idx.Journal.Bytes > 0 && idx.Journal.Bytes <= size {
		top = s.lineIn(journal, idx.Journal)
	}
	var covered int64
	if idx.whole {
		covered = idx.Journal.Bytes
	}
	from := int64(0)
	if top != nil {
		from = top.End
	}
	if size > from {
		if err := journal.datasync(); err != nil {
			return Snapshot{}, false, &Error{Code: StoreError, What: "sync " + journalFile, Err: err, Remedy: "see to the disk"}
		}
	}
	end, newest, err := scan(journal, from, size, top, covered)
	if err != nil {
		return Snapshot{}, false, err
	}
	if end < size {
		if err := s.cut(journal, end, size); err != nil {
			return Snapshot{}, false, err
		}
	}
	snap = Snapshot{Task: state.New(), Top: newest}
	if newest != nil {
		snap.Task = newest.State
		snap.Journal = Position{Bytes: newest.End, Last: newest.Off, H: newest.H}
	}
	return snap, idx.Journal != snap.Journal, nil
}

// lineIn returns the line that p names, nil when it is not there.
func (s *Store) lineIn(journal io.ReaderAt, p Position) *Line {
	raw := make([]byte, p.Bytes-p.Last)
	if _, err := journal.ReadAt(raw, p.Last); err != nil {
		return nil
	}
	if c := s.cachedTop(); c != nil && c.H == p.H && c.Off == p.Last {
		if h, err := sealed(raw); err == nil && h == c.H {
			return c
		}
		return nil
	}
	l, err := decode(raw, p.Last)
	if err != nil || l.H != p.H {
		return nil
	}
	return l
}

// scan follows the chain from one line to the end of the journal, and returns where the sound part ends. A bad line is
// torn, and so left out, when nothing comes after it and no view was made from it; otherwise the journal is corrupt.
func scan(journal io.ReaderAt, from, size int64, top *Line, covered int64) (end int64, newest *Line, err error) {
	end, newest = from, top
	r := bufio.NewReaderSize(io.NewSectionReader(journal, from, size-from), 1<<16)
	for end < size {
		raw, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, nil, &Error{Code: StoreError, What: "read " + journalFile, Err: err, Remedy: "see to the disk"}
		}
		next := end + int64(len(raw))
		l, bad := follow(newest, raw, end)
		if bad != nil {
			var newer *state.SchemaError
			if errors.As(bad, &newer) {
				return 0, nil, &Error{Code: StoreError, What: "read " + journalFile, Err: bad}
			}
			if next < size || covered > end {
				return 0, nil, corrupt("the line at byte %d is not sound: %v", end, bad)
			}
			return end, newest, nil
		}
		end, newest = next, l
	}
	if end < covered {
		return 0, nil, corrupt("it ends at byte %d and STATE.json was made from %d", end, covered)
	}
	return end, newest, nil
}

// follow decodes raw as the line after prev.
func follow(prev *Line, raw []byte, off int64) (*Line, error) {
	if len(raw) == 0 || raw[len(raw)-1] != '\n' {
		return nil, errors.New("it has no end")
	}
	l, err := decode(raw, off)
	if err != nil {
		return nil, err
	}
	seq, h := uint64(0), genesis
	if prev != nil {
		seq, h = prev.Seq, prev.H
	}
	if l.Seq != seq+1 || l.Prev != h {
		return nil, fmt.Errorf("line %d does not follow line %d", l.Seq, seq)
	}
	return l, nil
}

// cut keeps a copy of the torn tail under logs and takes it off the journal.
func (s *Store) cut(journal file, end, size int64) error {
	torn := make([]byte, size-end)
	if _, err := journal.ReadAt(torn, end); err != nil && !errors.Is(err, io.EOF) {
		return &Error{Code: StoreError, What: "read the torn end of " + journalFile, Err: err, Remedy: "see to the disk"}
	}
	s.keep(fmt.Sprintf("torn-%d", end), torn)
	err := journal.Truncate(end)
	if err == nil {
		err = journal.datasync()
	}
	if err != nil {
		return &Error{Code: StoreError, What: "cut the torn end of " + journalFile, Err: err, Remedy: "see to the disk"}
	}
	return nil
}

// keep puts a copy of something found into logs, as well as it can.
func (s *Store) keep(name string, data []byte) {
	if err := publish(s.disk, logDir+"/"+name, data); err != nil {
		s.log.Warn("copy not kept", "file", name, "error", err)
	}
}

// openJournal opens the journal for a holder of the lock.
func (s *Store) openJournal(flag int) (file, error) {
	f, err := s.disk.open(journalFile, flag)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.noJournal()
	case err != nil:
		return nil, &Error{Code: StoreError, What: "open " + journalFile, Err: err,
			Remedy: "see whether the folder can be written"}
	}
	return f, nil
}

// noJournal says what is there instead of a journal.
func (s *Store) noJournal() error {
	if _, err := s.readIndex(); err != nil {
		return err
	}
	if s.opts.Backup != "" {
		if _, err := os.Lstat(s.opts.Backup); err == nil {
			return &Error{Code: NotInitialised, What: s.dir + " has lost its journal",
				Remedy: "run ferrus doctor --fix, which has a second link to it"}
		}
	}
	return &Error{Code: NotInitialised, What: s.dir + " has no journal", Remedy: "run ferrus init"}
}
