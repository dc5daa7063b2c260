package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/ferrus-go/ferrus/internal/store"
)

// page is how many bytes of lines are asked for at a time, about.
const page = 1 << 20

// lineWhere returns the one line of a condition on the journal, nil where there is none.
func (s *Store) lineWhere(where string, args ...any) (*store.Line, error) {
	var off int64
	var raw []byte
	err := s.db.query(s.db.ctx, func(ctx context.Context) error {
		return s.db.read.QueryRow(ctx, "select off, line from journal where machine = $1 and "+where, append([]any{s.id}, args...)...).Scan(&off, &raw)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.db.failed("read a line", err)
	}
	return s.decode(raw, off)
}

func (s *Store) decode(raw []byte, off int64) (*store.Line, error) {
	l, err := store.Decode(raw, off)
	if err != nil {
		return nil, s.corrupt("the line at byte %d is not valid: %v", off, err)
	}
	return l, nil
}

// LineAt returns the line that starts at a byte of the journal.
func (s *Store) LineAt(off int64) (*store.Line, error) {
	if s.seen != nil && s.seen.lines[off] != nil {
		return s.decode(s.seen.lines[off], off)
	}
	l, err := s.lineWhere("off = $2", off)
	if err == nil && l == nil {
		err = s.corrupt("no line at byte %d", off)
	}
	return l, err
}

// LineOf returns the line with a number, nil when there is none.
func (s *Store) LineOf(seq uint64) (*store.Line, error) { return s.lineWhere("seq = $2", int64(seq)) }

// First returns the first line for which reached is true, nil when there is none. It is a binary search.
func (s *Store) First(reached func(*store.Line) bool) (*store.Line, error) {
	snap, err := s.View()
	if err != nil {
		return nil, err
	}
	var found *store.Line
	for low, high := uint64(1), snap.Task.Seq; snap.Top != nil && low <= high; {
		mid := low + (high-low)/2
		l, err := s.LineOf(mid)
		switch {
		case err != nil:
			return nil, err
		case l == nil:
			return nil, s.corrupt("line %d is missing", mid)
		case reached(l):
			found, high = l, mid-1
		default:
			low = mid + 1
		}
	}
	return found, nil
}

// History yields all lines, oldest first.
func (s *Store) History() iter.Seq2[*store.Line, error] { return s.HistoryFrom(0) }

// HistoryFrom is History from the line that starts at byte off.
func (s *Store) HistoryFrom(off int64) iter.Seq2[*store.Line, error] {
	return func(yield func(*store.Line, error) bool) {
		var prev *store.Line
		for raw, err := range s.raw(off, -1) {
			if err != nil {
				yield(nil, err)
				return
			}
			var l *store.Line
			if prev == nil && off > 0 {
				l, err = store.Decode(raw, off)
			} else {
				l, err = store.Follow(prev, raw, off)
			}
			if err != nil {
				yield(nil, s.corrupt("the line at byte %d is not valid: %v", off, err))
				return
			}
			if !yield(l, nil) {
				return
			}
			prev, off = l, l.End
		}
	}
}

// Newest yields the n newest lines, oldest first.
func (s *Store) Newest(n int) iter.Seq2[*store.Line, error] {
	return func(yield func(*store.Line, error) bool) {
		snap, err := s.View()
		if err != nil {
			yield(nil, err)
			return
		}
		off := int64(0)
		if last := snap.Task.Seq; snap.Top != nil && n > 0 && uint64(n) < last {
			l, err := s.LineOf(last - uint64(n) + 1)
			if err == nil && l == nil {
				err = s.corrupt("line %d is missing", last-uint64(n)+1)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			off = l.Off
		} else if n <= 0 {
			return
		}
		for l, err := range s.HistoryFrom(off) {
			if !yield(l, err) {
				return
			}
		}
	}
}

// raw yields the bytes of the lines from the one at byte off, which must be without a gap, up to the byte to; all for -1.
func (s *Store) raw(off, to int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			lines, err := s.page(off, to)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, raw := range lines {
				if !yield(raw, nil) {
					return
				}
				off += int64(len(raw))
			}
			if len(lines) == 0 {
				return
			}
		}
	}
}

// page reads some lines from the one at byte off: at least one, unless there is none.
func (s *Store) page(off, to int64) ([][]byte, error) {
	end := off + page
	if to >= 0 {
		end = min(end, to)
	}
	var lines [][]byte
	err := s.db.query(s.db.ctx, func(ctx context.Context) error {
		rows, err := s.db.read.Query(ctx, "select off, line from journal where machine = $1 and off >= $2 and off < $3 order by off", s.id, off, max(end, off+1))
		if err != nil {
			return err
		}
		lines = nil
		next, at, raw := off, int64(0), []byte(nil)
		_, err = pgx.ForEachRow(rows, []any{&at, &raw}, func() error {
			if at != next {
				return s.corrupt("no line at byte %d", next)
			}
			lines = append(lines, bytes.Clone(raw))
			next += int64(len(raw))
			return nil
		})
		return err
	})
	return lines, s.db.failed("read the journal", err)
}

// Bytes returns the bytes of the journal from one position up to another.
func (s *Store) Bytes(from, to int64) (io.ReadCloser, error) {
	next, stop := iter.Pull2(s.raw(from, to))
	return &reader{next: next, stop: stop, left: to - from}, nil
}

// A reader reads lines as bytes.
type reader struct {
	next func() ([]byte, error, bool)
	stop func()
	buf  bytes.Reader
	left int64
}

func (r *reader) Read(p []byte) (int, error) {
	for r.buf.Len() == 0 {
		raw, err, ok := r.next()
		if err != nil {
			return 0, err
		}
		if !ok || r.left <= 0 {
			return 0, io.EOF
		}
		r.buf.Reset(raw[:min(int64(len(raw)), r.left)])
		r.left -= int64(len(raw))
	}
	return r.buf.Read(p)
}

func (r *reader) Close() error {
	r.stop()
	return nil
}
