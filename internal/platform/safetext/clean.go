// Package safetext shows hidden characters of texts of others: agents, the output of tests, files of the project. A person, a
// model and the journal then get the same characters, all of them visible. One table says which are hidden, for all of them.
//
// What is shown is marked (see [Mark]). In what is handed in (see [Document]), and in what programs print (see [Output]), the
// characters that only choose how another is drawn are left out.
//
// The package knows no format except JSON. It does not decide about the length or the meaning of a text.
package safetext

import "strings"

// Clean is Document without the number.
func Clean(text string) string {
	clean, _ := Document(text)
	return clean
}

// Document returns a text as it is stored: marked (see [Mark]), and says how many marks it has made, of which the writer should
// know. Four kinds of hidden characters are left out instead, because nobody reads another text without them: a selector behind an
// emoji, a joiner between two, the CR of a line end, and a byte order mark at the beginning. Clean(Clean(s)) is Clean(s).
func Document(text string) (clean string, marks int) {
	if plain(text) {
		return text, 0
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for c := range characters(text) {
		switch c.is {
		case seen:
			b.WriteString(c.text)
		case hidden:
			b.WriteString("<" + c.name() + ">")
			marks++
		}
	}
	return b.String(), marks
}

// Output returns what a program has printed as a person or a model reads it: a document (see [Document]) without colours, which
// are the escape sequences that end with m.
func Output(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		if !found {
			b.WriteString(text)
			return Clean(b.String())
		}
		b.WriteString(before)
		if text = strings.TrimLeft(rest, "0123456789;:"); !strings.HasPrefix(text, "m") {
			b.WriteString("\x1b[" + rest[:len(rest)-len(text)])
			continue
		}
		text = text[len("m"):]
	}
}
