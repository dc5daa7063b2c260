package store

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// First returns the first line for which reached is true, nil when there is none. reached must be
// false for all lines before that one and true for all after it. First is a binary search: it reads
// about log2(size) lines and verifies the hash of each, but not the chain between them. It takes no
// lock.
func (s *Store) First(reached func(*Line) bool) (*Line, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unread(err)
	}
	var found *Line
	for low, high := int64(0), info.Size(); low < high; { // the line starts at low or later, and before high
		mid := low + (high-low)/2
		l, err := lineFrom(f, mid, high)
		switch {
		case err != nil:
			return nil, err
		case l == nil && mid == low: // what follows the last newline
			high = low
		case l == nil:
			high = mid
		case reached(l):
			found, high = l, mid
		default:
			low = l.End
		}
	}
	return found, nil
}

// lineFrom returns the first line that starts at off or later, nil when there is none before end.
func lineFrom(journal io.ReaderAt, off, end int64) (*Line, error) {
	if off > 0 { // the newline before off makes it a line's start
		r := bufio.NewReader(io.NewSectionReader(journal, off-1, end-off+1))
		for {
			part, err := r.ReadSlice('\n')
			off += int64(len(part))
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, unread(err)
			}
		}
		off--
	}
	if off >= end {
		return nil, nil
	}
	l, err := lineAt(journal, off)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return l, err
}

// LineOf returns the line with the number seq, nil when there is none. It reads as First does.
func (s *Store) LineOf(seq uint64) (*Line, error) {
	l, err := s.First(func(l *Line) bool { return l.Seq >= seq })
	if err != nil || l == nil || l.Seq != seq { // the first line is 1
		return nil, err
	}
	return l, nil
}
