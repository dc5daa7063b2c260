package file

import (
	"os"

	"github.com/ferrus-go/ferrus/internal/store"
)

// First returns the first line for which reached is true, nil when there is none. reached must be
// false for all lines before that one and true for all after it. First is a binary search: it reads
// about log2(size) lines and verifies the hash of each, but not the chain between them. It takes no
// lock.
func (s *Store) First(reached func(*store.Line) bool) (*store.Line, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, store.ReadError(err)
	}
	var found *store.Line
	for low, high := int64(0), info.Size(); low < high; { // the line starts at low or later, and before high
		mid := low + (high-low)/2
		l, err := store.LineFrom(f, mid, high)
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

// LineOf returns the line with the number seq, nil when there is none. It reads as First does.
func (s *Store) LineOf(seq uint64) (*store.Line, error) {
	l, err := s.First(func(l *store.Line) bool { return l.Seq >= seq })
	if err != nil || l == nil || l.Seq != seq { // the first line is 1
		return nil, err
	}
	return l, nil
}
