package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
)

// History yields the journal's lines, oldest first, checking each and the chain between them. It ends with an error of
// code Corrupt at an altered line, and silently before a line that is still being written.
func (s *Store) History() iter.Seq2[*Line, error] { return s.historyFrom(0, nil) }

func (s *Store) historyFrom(off int64, prev *Line) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		f, err := s.openJournal(os.O_RDONLY)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			yield(nil, err)
			return
		}
		r := bufio.NewReaderSize(io.NewSectionReader(f, off, info.Size()-off), 1<<16)
		for {
			raw, err := r.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, &Error{Code: StoreError, What: "read " + journalFile, Err: err, Remedy: "see to the disk"})
				return
			}
			l, err := follow(prev, raw, off)
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

// LineAt returns the line that starts at off.
func (s *Store) LineAt(off int64) (*Line, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := bufio.NewReader(io.NewSectionReader(f, off, 1<<62)).ReadBytes('\n')
	if err != nil {
		return nil, corrupt("no line at byte %d", off)
	}
	l, err := decode(raw, off)
	if err != nil {
		return nil, corrupt("the line at byte %d is not sound: %v", off, err)
	}
	return l, nil
}

// lineBefore returns the line that ends where off is.
func (s *Store) lineBefore(off int64) (*Line, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var raw []byte
	for at := off; at > 0; {
		step := min(at, 1<<16)
		chunk := make([]byte, step)
		if _, err := f.ReadAt(chunk, at-step); err != nil {
			return nil, err
		}
		raw, at = append(chunk, raw...), at-step
		if i := bytes.LastIndexByte(raw[:len(raw)-1], '\n'); i >= 0 {
			raw = raw[i+1:]
			break
		}
	}
	return decode(raw, off-int64(len(raw)))
}
