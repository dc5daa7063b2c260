package file

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// A replayed is the journal from the line that STATE.json names to its end.
type replayed struct {
	named  *store.Line   // nil when STATE.json names no line; then newest was found from the journal's start
	newest *store.Line   // nil in a fresh project
	past   expectedViews // of the lines from named to newest
}

// expectedViews has what a crash may have left in place of the newest generated files, by viewKey:
// the documents of older lines, and edits that were journalled and not yet reverted.
type expectedViews map[string]bool

func (p expectedViews) add(docs map[state.Doc]state.Ref) {
	for _, doc := range state.Docs() {
		p[viewKey(string(doc), docs[doc].SHA256)] = true
	}
}

// viewKey returns the key of a generated file with a content; sha is "" if it is missing.
func viewKey(name, sha string) string { return name + ":" + sha }

// replay finds the newest line, from the line that STATE.json names or from the start, and cuts off
// a torn tail.
func (s *Store) replay(journal file, idx index) (r replayed, err error) {
	info, err := journal.Stat()
	if err != nil {
		return r, store.ReadError(err)
	}
	size, from, covered := info.Size(), int64(0), int64(0)
	if idx.whole {
		covered = idx.Journal.Bytes
		if r.named, err = s.lineIn(journal, idx.Journal, size); err != nil {
			return r, err
		}
	}
	if r.named != nil {
		from = r.named.End
	}
	if size > from {
		if err := journal.datasync(); err != nil {
			return r, refusal.Because(refusal.StoreError, "sync "+journalFile, err, "check the disk")
		}
	}
	end, err := r.scan(journal, from, size, covered)
	if err == nil && end < size {
		err = s.cut(journal, end, size)
	}
	return r, err
}

// lineIn returns the line that p names, nil if the journal has no such line.
func (s *Store) lineIn(journal io.ReaderAt, p store.Position, size int64) (*store.Line, error) {
	if p.Bytes > size || p.Bytes == p.Last || p.Bytes-p.Last > store.MaxLine {
		return nil, nil
	}
	raw := make([]byte, p.Bytes-p.Last)
	if _, err := journal.ReadAt(raw, p.Last); err != nil && !errors.Is(err, io.EOF) {
		return nil, store.ReadError(err)
	}
	if h, err := store.Sealed(raw); err != nil || h != p.H {
		return nil, nil
	}
	if l := s.line(p); l != nil {
		return l, nil
	}
	l, err := store.Decode(raw, p.Last)
	if err != nil {
		return nil, nil
	}
	return l, nil
}

// scan follows the chain to the end of the journal, and returns where the valid part ends. An
// invalid last line that STATE.json does not cover is torn, and is left out. Otherwise the journal
// is corrupt.
func (r *replayed) scan(journal io.ReaderAt, from, size, covered int64) (end int64, err error) {
	end, r.newest = from, r.named
	lines := bufio.NewReaderSize(io.NewSectionReader(journal, from, size-from), int(min(size-from, 1<<16)))
	for end < size {
		raw, err := store.ReadLine(lines)
		if store.TooLong(err) {
			return 0, store.CorruptJournal("the line at byte %d is not valid: %v", end, err)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, store.ReadError(err)
		}
		next := end + int64(len(raw))
		l, bad := store.Follow(r.newest, raw, end)
		if bad != nil {
			var newer *state.SchemaError
			if errors.As(bad, &newer) {
				return 0, refusal.Because(refusal.StoreError, "read "+journalFile, bad, "")
			}
			var forged *state.FieldError // not a torn line: it matches its hash
			if errors.As(bad, &forged) {
				return 0, store.CorruptJournal("the line at byte %d is not valid: %v", end, bad)
			}
			if next < size || store.TwoLines(raw) {
				return 0, store.CorruptJournal("the line at byte %d is not valid: %v", end, bad)
			}
			break
		}
		r.pass(l)
		end = next
	}
	if end < covered {
		return 0, store.CorruptJournal("it is valid up to byte %d and STATE.json was made from %d", end, covered)
	}
	return end, nil
}

// pass advances to the next line.
func (r *replayed) pass(next *store.Line) {
	left := store.At(r.newest).Task.Docs
	if r.past == nil {
		r.past = expectedViews{}
		r.past.add(left)
	} else if !maps.Equal(left, next.State.Docs) {
		r.past.add(left)
	}
	if next.Event == state.Violation {
		for seen := range strings.FieldsSeq(next.Req) {
			r.past[seen] = true
		}
	}
	r.newest = next
}

// cut saves a copy of the torn tail under logs and removes it from the journal.
func (s *Store) cut(journal file, end, size int64) error {
	torn := make([]byte, size-end)
	if _, err := journal.ReadAt(torn, end); err != nil && !errors.Is(err, io.EOF) {
		return store.ReadError(err)
	}
	s.keep(fmt.Sprintf("torn-%d", end), torn)
	err := journal.Truncate(end)
	if err == nil {
		err = journal.datasync()
	}
	if err != nil {
		return refusal.Because(refusal.StoreError, "cut the torn end of "+journalFile, err, "check the disk")
	}
	return nil
}
