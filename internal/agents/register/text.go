package register

import (
	"bytes"
	"maps"
	"slices"
)

// maxBrackets bounds how deep a text can be nested: each level is one on the stack of a parser, whose end ends the process.
const maxBrackets = 5_000

// shallow refuses a text that may be nested too deep.
func shallow(text []byte) error {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return &fault{line: 1, message: "it has too many brackets"}
	}
	return nil
}

// splice is text with the bytes from one offset to another replaced. The text itself stays as it is.
func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// lineOf is the line of an offset, from 1. An offset outside of the text, as a parser may give one, is its nearest end.
func lineOf(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), len(text))], []byte("\n"))
}

// lineStart is where the line of an offset begins.
func lineStart(text []byte, offset int) int {
	start := 1 + bytes.LastIndexByte(text[:offset], '\n')
	if start == 0 && bytes.HasPrefix(text, []byte(bom)) {
		return min(len(bom), offset)
	}
	return start
}

// indentOf is what the line of an offset begins with.
func indentOf(text []byte, offset int) string {
	start := lineStart(text, offset)
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end])
}

// startsLine reports whether nothing but blanks stands before an offset on its line.
func startsLine(text []byte, offset int) bool {
	return len(bytes.TrimLeft(text[lineStart(text, offset):offset], " \t")) == 0
}

// newlineOf is how the lines of a text end: as its first one does.
func newlineOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
