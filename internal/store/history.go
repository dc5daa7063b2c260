package store

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/ferrus-go/ferrus/internal/state"
)

// History yields the journal's lines, oldest first, and verifies each line and the chain. It ends
// with an error of code Corrupt at an altered line, and without an error before a line that is
// still being written.
func (s *Store) History() iter.Seq2[*Line, error] { return s.HistoryFrom(0) }

// HistoryFrom is History from the line that starts at byte off, as in a state.Ref. Earlier lines
// are not read.
func (s *Store) HistoryFrom(off int64) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		if off < 0 {
			yield(nil, corrupt("no line at byte %d", off))
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
			yield(nil, unread(err))
			return
		}
		for l, err := range lines(f, off, info.Size()) {
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// lines yields the lines of a journal from the one that starts at off up to size or an incomplete
// line.
func lines(journal io.ReaderAt, off, size int64) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(journal, off, size-off), 1<<16)
		var prev *Line
		for off := off; ; {
			raw, err := readLine(r)
			if errors.Is(err, io.EOF) {
				return
			}
			if errors.Is(err, errLong) {
				yield(nil, corrupt("the line at byte %d is not valid: %v", off, err))
				return
			}
			if err != nil {
				yield(nil, unread(err))
				return
			}
			next := follow
			if prev == nil && off > 0 {
				next = func(_ *Line, raw []byte, off int64) (*Line, error) { return decode(raw, off) }
			}
			l, err := next(prev, raw, off)
			if err != nil {
				yield(nil, corrupt("the line at byte %d is not valid: %v", off, err))
				return
			}
			if !yield(l, nil) {
				return
			}
			prev, off = l, l.End
		}
	}
}

// Abandoned takes consecutive lines, oldest first, and reports for each whether a later rollback
// among them skipped it: it lies between a line that counts and the line to which that one leads.
// Only later lines say which lines count, so Abandoned goes backwards.
func Abandoned(lines []*Line) []bool {
	left := make([]bool, len(lines))
	counts := ^uint64(0) // the newest line that counts
	for i := len(lines) - 1; i >= 0; i-- {
		switch l := lines[i]; {
		case l.Seq > counts:
			left[i] = true
		case l.Event == state.Rollback:
			counts = l.Back
		}
	}
	return left
}

// LineAt returns the line that starts at off.
func (s *Store) LineAt(off int64) (*Line, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if off < 0 {
		return nil, corrupt("no line at byte %d", off)
	}
	l, err := lineAt(f, off)
	if errors.Is(err, io.EOF) {
		return nil, corrupt("no line at byte %d", off)
	}
	return l, err
}

// lineAt reads the line that starts at off. The error is io.EOF if there is no complete line.
func lineAt(journal io.ReaderAt, off int64) (*Line, error) {
	raw, err := readLine(bufio.NewReader(io.NewSectionReader(journal, off, 1<<62)))
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, errLong):
		return nil, corrupt("the line at byte %d is not valid: %v", off, err)
	case err != nil:
		return nil, unread(err)
	}
	l, err := decode(raw, off)
	if err != nil {
		return nil, corrupt("the line at byte %d is not valid: %v", off, err)
	}
	return l, nil
}
