package file

import (
	"errors"
	"io"
	"iter"
	"os"

	"github.com/ferrus-go/ferrus/internal/store"
)

// History yields the journal's lines, oldest first, and verifies each line and the chain. It ends
// with an error of code Corrupt at an altered line, and without an error before a line that is
// still being written.
func (s *Store) History() iter.Seq2[*store.Line, error] { return s.HistoryFrom(0) }

// HistoryFrom is History from the line that starts at byte off, as in a state.Ref. Earlier lines
// are not read.
func (s *Store) HistoryFrom(off int64) iter.Seq2[*store.Line, error] {
	return func(yield func(*store.Line, error) bool) {
		if off < 0 {
			yield(nil, store.CorruptJournal("no line at byte %d", off))
			return
		}
		f, err := s.openJournal(os.O_RDONLY)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			yield(nil, store.ReadError(err))
			return
		}
		for l, err := range store.Lines(f, off, info.Size()) {
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// LineAt returns the line that starts at off.
func (s *Store) LineAt(off int64) (*store.Line, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if off < 0 {
		return nil, store.CorruptJournal("no line at byte %d", off)
	}
	l, err := store.ReadLineAt(f, off)
	if errors.Is(err, io.EOF) {
		return nil, store.CorruptJournal("no line at byte %d", off)
	}
	return l, err
}

// Bytes returns the bytes of the journal from one position up to another.
func (s *Store) Bytes(from, to int64) (io.ReadCloser, error) {
	journal, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(journal, from, to-from), journal}, nil
}
