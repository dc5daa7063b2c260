package store

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/ferrus-go/ferrus/internal/state"
)

// History yields the journal's lines, oldest first, checking each and the chain between them. It ends with an error of
// code Corrupt at an altered line, and silently before a line that is still being written.
func (s *Store) History() iter.Seq2[*Line, error] { return s.HistoryFrom(0) }

// HistoryFrom is History from the line that starts at a byte, such as a state.Ref names it. What came before is not
// looked at.
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

// lines yields the lines of a journal from the one that starts at off, up to its end or a line that has none.
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
				yield(nil, corrupt("the line at byte %d is not sound: %v", off, err))
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
				yield(nil, corrupt("the line at byte %d is not sound: %v", off, err))
				return
			}
			if !yield(l, nil) {
				return
			}
			prev, off = l, l.End
		}
	}
}

// Abandoned says of lines that follow each other, oldest first, which of them a rollback among them has left behind: what
// lies between one that counts and where it leads. Only what comes later says which count, so it goes backwards.
func Abandoned(lines []*Line) []bool {
	left := make([]bool, len(lines))
	counts := ^uint64(0) // the newest line that does
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

// lineAt reads the line that starts at off; the error is io.EOF where no whole line does.
func lineAt(journal io.ReaderAt, off int64) (*Line, error) {
	raw, err := readLine(bufio.NewReader(io.NewSectionReader(journal, off, 1<<62)))
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, errLong):
		return nil, corrupt("the line at byte %d is not sound: %v", off, err)
	case err != nil:
		return nil, unread(err)
	}
	l, err := decode(raw, off)
	if err != nil {
		return nil, corrupt("the line at byte %d is not sound: %v", off, err)
	}
	return l, nil
}
