// Package safetext removes hidden characters from text of others: agents, the output of tests,
// files of the project. A person, a model and the journal then get the same characters, all of them
// visible.
//
// The package knows no format except JSON. It does not decide about the length or the meaning of a
// text.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const esc = '\x1b'

// Clean returns text as a person or a model may safely read it: without escape sequences (CSI, OSC, DCS, APC, PM, SOS
// and the short ones) and without hidden characters (see [Hidden]). Each byte of invalid UTF-8 becomes U+FFFD. No newline is
// dropped, so an unterminated sequence hides the rest of a line at most. Clean(Clean(s)) is Clean(s).
func Clean(text string) string {
	clean, _ := Document(text)
	return clean
}

// Document is Clean for a text that is to be stored, and says how many characters it removed of which the writer should
// know: not those that only choose how a visible character is drawn (a joiner or a selector within an emoji), the CR of a
// line end or a byte order mark at the beginning.
func Document(text string) (clean string, removed int) {
	if plain(text) {
		return text, 0
	}
	var b strings.Builder
	b.Grow(len(text))
	whole := text
	drawing := 0 // how many joiners and selectors may follow what was read last
	for len(text) > 0 {
		if n := sequence(text); n > 0 {
			removed += utf8.RuneCountInString(text[:n])
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case !Hidden(r):
			b.WriteRune(r) // for an invalid byte r is U+FFFD
			if r == utf8.RuneError && n == 1 {
				removed++
			}
			if drawing = 0; drawn(r) {
				drawing = 2
			}
		case r == '\r' && strings.HasPrefix(text[n:], "\n"), r == bom && len(text) == len(whole):
		case drawing > 0 && (r == zwj || r == textStyle || r == emojiStyle):
			drawing--
		default:
			removed++
		}
		text = text[n:]
	}
	return b.String(), removed
}

const (
	zwj        = '\u200d'
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	bom        = '\ufeff'
)

// drawn reports whether a character can be drawn as an emoji.
func drawn(r rune) bool {
	return unicode.IsSymbol(r) || r == '#' || r == '*' || r >= '0' && r <= '9' || r == '‼' || r == '⁉'
}

// Line returns text as one clean line: each run of white space is one space.
func Line(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return false
		}
	}
	return true
}

// sequence returns the length of the escape sequence that text starts with (ECMA-48 in its 7-bit form, or in its 8-bit
// form as UTF-8), or 0. A malformed sequence ends before the first character that cannot belong to it.
func sequence(text string) int {
	introducer, n := utf8.DecodeRuneInString(text)
	if introducer == esc {
		if len(text) == 1 {
			return 1
		}
		c := text[1]
		switch {
		case c >= '@' && c <= '_': // ESC [ is CSI, and so on: the 8-bit form is 0x40 above
			introducer, n = rune(c)+0x40, 2
		case c >= ' ' && c <= '/':
			return 1 + final(text[1:], 0x20, 0x2f, 0x30)
		case c >= '0' && c <= '~':
			return 2
		default:
			return 1
		}
	}
	switch introducer {
	case 0x9b: // CSI
		return n + final(text[n:], 0x20, 0x3f, 0x40)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC
		return n + stringEnd(text[n:])
	}
	if introducer >= 0x80 && introducer <= 0x9f {
		return n
	}
	return 0
}

// final returns the length of a run of bytes in lo..hi together with the final byte in first..0x7e that follows it.
func final(text string, lo, hi, first byte) int {
	i := 0
	for i < len(text) && text[i] >= lo && text[i] <= hi {
		i++
	}
	if i < len(text) && text[i] >= first && text[i] <= '~' {
		i++
	}
	return i
}

// stringEnd returns the length of a control string and its terminator: BEL or ST. Another escape sequence, CAN, SUB and
// a newline end it too and are left for the caller.
func stringEnd(text string) int {
	for i, r := range text {
		switch r {
		case '\a', '\u009c':
			return i + utf8.RuneLen(r)
		case esc:
			if strings.HasPrefix(text[i:], "\x1b\\") {
				return i + 2
			}
			return i
		case '\n', '\x18', '\x1a':
			return i
		}
	}
	return len(text)
}
