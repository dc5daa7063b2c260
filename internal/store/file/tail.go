package file

import (
	"bytes"
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

// tailBlock is how much of the journal is read at a time, backwards.
const tailBlock = 64 << 10

// tail returns where the nth line from the end starts, 0 if there are fewer lines. Bytes after the
// last newline do not count.
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
	block := make([]byte, tailBlock)
	found := 0 // newlines: one for each line, and the one before the nth line
	for end := info.Size(); end > 0; {
		from := max(0, end-tailBlock)
		piece := block[:end-from]
		if _, err := f.ReadAt(piece, from); err != nil {
			return 0, store.ReadError(err)
		}
		for i := len(piece); ; {
			if i = bytes.LastIndexByte(piece[:i], '\n'); i < 0 {
				break
			}
			if found++; found == n+1 {
				return from + int64(i) + 1, nil
			}
		}
		end = from
	}
	return 0, nil
}
