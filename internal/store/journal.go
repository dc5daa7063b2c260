package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/ferrus-go/ferrus/internal/state"
)

// Lines yields the lines of a journal from the one that starts at off up to size or an incomplete
// line.
func Lines(journal io.ReaderAt, off, size int64) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(journal, off, size-off), 1<<16)
		var prev *Line
		for off := off; ; {
			raw, err := ReadLine(r)
			if errors.Is(err, io.EOF) {
				return
			}
			if TooLong(err) {
				yield(nil, CorruptJournal("the line at byte %d is not valid: %v", off, err))
				return
			}
			if err != nil {
				yield(nil, ReadError(err))
				return
			}
			next := Follow
			if prev == nil && off > 0 {
				next = func(_ *Line, raw []byte, off int64) (*Line, error) { return Decode(raw, off) }
			}
			l, err := next(prev, raw, off)
			if err != nil {
				yield(nil, CorruptJournal("the line at byte %d is not valid: %v", off, err))
				return
			}
			if !yield(l, nil) {
				return
			}
			prev, off = l, l.End
		}
	}
}

// ReadLineAt reads the line that starts at off. The error is io.EOF if there is no complete line.
func ReadLineAt(journal io.ReaderAt, off int64) (*Line, error) {
	raw, err := ReadLine(bufio.NewReader(io.NewSectionReader(journal, off, 1<<62)))
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case TooLong(err):
		return nil, CorruptJournal("the line at byte %d is not valid: %v", off, err)
	case err != nil:
		return nil, ReadError(err)
	}
	l, err := Decode(raw, off)
	if err != nil {
		return nil, CorruptJournal("the line at byte %d is not valid: %v", off, err)
	}
	return l, nil
}

// TailBlock is how much of a journal [Tail] reads at a time, in bytes.
const TailBlock = 64 << 10

// Tail returns where the nth line from the end of a journal starts, 0 if there are fewer lines. Bytes after the last newline do not
// count. It reads from the end, and no more than it needs.
func Tail(journal io.ReaderAt, size int64, n int) (int64, error) {
	block := make([]byte, TailBlock)
	found := 0 // newlines: one for each line, and the one before the nth line
	for end := size; end > 0; {
		from := max(0, end-TailBlock)
		piece := block[:end-from]
		if _, err := journal.ReadAt(piece, from); err != nil {
			return 0, ReadError(err)
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

// LineFrom returns the first line that starts at off or later, nil when there is none before end.
func LineFrom(journal io.ReaderAt, off, end int64) (*Line, error) {
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
				return nil, ReadError(err)
			}
		}
		off--
	}
	if off >= end {
		return nil, nil
	}
	l, err := ReadLineAt(journal, off)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return l, err
}

// TwoLines reports whether raw is a valid line without its newline, followed by another line. A line
// that was torn while it was written cannot have that form.
func TwoLines(raw []byte) bool {
	for from := 0; ; from++ {
		i := bytes.Index(raw[from:], []byte(hashKey))
		if from += i; i < 0 || len(raw) <= from+tailBytes {
			return false
		}
		if _, err := Sealed(append(bytes.Clone(raw[:from+tailBytes-1]), '\n')); err == nil {
			return true
		}
	}
}

// Follow decodes raw as the line after prev.
func Follow(prev *Line, raw []byte, off int64) (*Line, error) {
	if len(raw) == 0 || raw[len(raw)-1] != '\n' {
		return nil, errors.New("it is incomplete")
	}
	l, err := Decode(raw, off)
	if err != nil {
		return nil, err
	}
	seq, h := uint64(0), Genesis
	if prev != nil {
		seq, h = prev.Seq, prev.H
	}
	if l.Seq != seq+1 || l.Prev != h {
		return nil, fmt.Errorf("line %d does not follow line %d", l.Seq, seq)
	}
	return l, nil
}

// HashAt returns the hash that the line at a byte of a journal claims, and whether its text has
// that hash. If no line ends after off, the error is io.EOF.
func HashAt(journal io.ReaderAt, off, size int64) (hash string, valid bool, err error) {
	if off < 0 || off >= size {
		return "", false, io.EOF
	}
	var raw []byte
	for chunk := 8 << 10; ; chunk *= 2 {
		buf := make([]byte, min(int64(chunk), size-off-int64(len(raw))))
		n, err := journal.ReadAt(buf, off+int64(len(raw)))
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			raw = append(raw, buf[:i+1]...)
			break
		}
		raw = append(raw, buf[:n]...)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return "", false, ReadError(err)
		case n < len(buf) || off+int64(len(raw)) >= size:
			return "", false, io.EOF
		case len(raw) > MaxLine:
			return "", false, fmt.Errorf("the line at byte %d has more than %d bytes", off, MaxLine)
		}
	}
	if len(raw) < tailBytes {
		return "", false, nil
	}
	tail := raw[len(raw)-tailBytes:]
	_, bad := Sealed(raw)
	return string(tail[len(hashKey) : len(hashKey)+64]), bad == nil, nil
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
