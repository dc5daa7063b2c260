package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark returns text as it is shown: a mark such as <U+202E> in place of each hidden character (see [Hidden]), and one such as
// <0x9B> in place of each byte that is no UTF-8. Nothing is removed, so that nobody reads another text than the one that is
// there. It is for patches, the content and the names of files, and whatever else is printed. Mark(Mark(s)) is Mark(s).
func Mark(text string) string {
	return Marked(text, func(name string) string { return "<" + name + ">" })
}

// Marked is Mark with marks of the caller's. name is U+202E or 0x9B.
func Marked(text string, mark func(name string) string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for c := range characters(text) {
		if c.is == seen {
			b.WriteString(c.text)
		} else {
			b.WriteString(mark(c.name()))
		}
	}
	return b.String()
}

// Line returns text as one line that can be shown: marked, and each run of white space is one space.
func Line(text string) string { return strings.Join(strings.Fields(Mark(text)), " ") }

// Blank reports whether nothing is seen of a text.
func Blank(text string) bool {
	for c := range characters(text) {
		if c.is == seen && strings.TrimSpace(c.text) != "" {
			return false
		}
	}
	return true
}

// A sight is whether a reader sees a character.
type sight int

const (
	seen    sight = iota
	drawing       // it is not seen, and changes nothing that is read
	hidden
)

// A character is one of a text, or a byte that is no UTF-8, or several of ASCII that are seen.
type character struct {
	r    rune // the last one
	text string
	is   sight
}

// name is what a mark says.
func (c character) name() string {
	if c.r == utf8.RuneError {
		return fmt.Sprintf("0x%02X", c.text[0])
	}
	return fmt.Sprintf("U+%04X", c.r)
}

const (
	zwj        = '\u200d'
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	keycap     = '\u20e3'
	bom        = '\ufeff'
)

// characters yields the characters of a text. Those that only choose how a visible one is drawn are: a selector behind an
// emoji or a key, a joiner between two emoji, the CR of a line end, and a byte order mark at the beginning.
func characters(text string) func(yield func(character) bool) {
	return func(yield func(character) bool) {
		begin, before := true, rune(0)
		for len(text) > 0 {
			if n := plainly(text); n > 0 {
				c := character{r: rune(text[n-1]), text: text[:n]}
				text = text[n:]
				begin, before = false, c.r
				if !yield(c) {
					return
				}
				continue
			}
			r, n := utf8.DecodeRuneInString(text)
			c := character{r: r, text: text[:n]}
			text = text[n:]
			switch {
			case r == utf8.RuneError && n == 1:
				c.is = hidden
			case !Hidden(r):
			case begin && r == bom, r == '\r' && (text == "" || text[0] == '\n'), draws(before, r, text):
				c.is = drawing
			default:
				c.is = hidden
			}
			begin, before = false, r
			if !yield(c) {
				return
			}
		}
	}
}

// draws reports whether r, between a character and the rest of a text, chooses how an emoji is drawn.
func draws(before, r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case textStyle, emojiStyle:
		return emoji(before) || strings.ContainsRune("0123456789#*", before) && next == keycap
	case zwj:
		return (unicode.In(before, unicode.So, unicode.Sk) || before == emojiStyle) && emoji(next) // no operator of a language
	}
	return false
}

// emoji reports whether a character can be drawn as an emoji. Those of ASCII are not among them: code consists of them.
func emoji(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.IsSymbol(r) || r == '©' || r == '®' || r == '‼' || r == '⁉'
}

// plain reports whether a text needs no look at its characters.
func plain(text string) bool { return plainly(text) == len(text) }

// plainly returns how many bytes at the beginning of a text are ASCII that is seen.
func plainly(text string) int {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return i
		}
	}
	return len(text)
}
