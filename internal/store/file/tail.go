package file

import (
	"iter"
	"os"

	"github.com/ferrus-go/ferrus/internal/store"
)

// Newest yields the n newest lines, oldest first, or all of them if there are fewer. It reads the
// journal from its end: earlier lines are neither read nor verified. The first line must match its
// own hash, the others also the chain.
func (s *Store) Newest(n int) iter.Seq2[*store.Line, error] {
	return func(yield func(*store.Line, error) bool) {
		off, err := s.tail(n)
		if err != nil {
			yield(nil, err)
			return
		}
		for l, err := range s.HistoryFrom(off) {
			if !yield(l, err) {
				return
			}
		}
	}
}

// tail returns where the nth line from the end starts, 0 if there are fewer lines.
func (s *Store) tail(n int) (int64, error) {
	f, err := s.openJournal(os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, store.ReadError(err)
	}
	return store.Tail(f, info.Size(), n)
}
