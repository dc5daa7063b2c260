package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const esc = '\x1b'

// Clean returns text as a person or a model may safely read it: without escape sequences (CSI, OSC, DCS, APC, PM, SOS
// and the short ones), control characters other than newline and tab, and characters that are invisible or turn the
// direction of writing (Unicode Cf, Zl, Zp). Each byte of invalid UTF-8 becomes U+FFFD. No newline is ever dropped, so
// that an unterminated sequence hides the rest of a line at most. Clean(Clean(s)) is Clean(s).
func Clean(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		if n := sequence(text); n > 0 {
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		if !hidden(r) {
			b.WriteRune(r) // for an invalid byte r is U+FFFD
		}
		text = text[n:]
	}
	return b.String()
}

func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return false
		}
	}
	return true
}

func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
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
