package safetext

import (
	"errors"
	"io"
	"unicode/utf8"
)

// Copy writes what r has to w, marked (see [Mark]), in pieces.
func Copy(w io.Writer, r io.Reader) error {
	buf := make([]byte, 64<<10)
	held := 0
	for {
		n, err := r.Read(buf[held:])
		piece := buf[:held+n]
		end := len(piece)
		if err == nil {
			end = Whole(piece)
		}
		if _, wrong := io.WriteString(w, Mark(string(piece[:end]))); wrong != nil {
			return wrong
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		held = copy(buf, piece[end:])
	}
}

// Whole returns the length of a piece of a text without the character at its end that may go on in the next piece.
func Whole(piece []byte) int {
	for end := len(piece) - 1; end >= 0 && end > len(piece)-utf8.UTFMax; end-- {
		if utf8.RuneStart(piece[end]) {
			if !utf8.FullRune(piece[end:]) {
				return end
			}
			break
		}
	}
	return len(piece)
}
