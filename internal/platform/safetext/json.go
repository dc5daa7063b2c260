package safetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

// MarkJSON returns a JSON text whose strings, and names of members, are marked (see [Mark]). What is no JSON string, and
// what has no hidden characters, stays as it is to the byte. The text must be valid JSON.
func MarkJSON(text []byte) []byte {
	var out []byte // nil as long as nothing has changed
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		from := i
		suspect := false
		for i++; i < len(text) && text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
				suspect = suspect || i < len(text) && text[i] != 'n' && text[i] != '"' && text[i] != '\\'
			} else {
				suspect = suspect || text[i] >= 0x7f
			}
		}
		if !suspect || i >= len(text) {
			continue
		}
		var value string
		if json.Unmarshal(text[from:i+1], &value) != nil {
			continue
		}
		shown := Mark(value)
		if shown == value {
			continue
		}
		var quoted bytes.Buffer
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(false)
		if enc.Encode(shown) != nil {
			continue
		}
		out = append(append(out, text[done:from]...), bytes.TrimSpace(quoted.Bytes())...)
		done = i + 1
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// EscapeJSON returns a JSON text in which each hidden character is written as an escape that means the same, so that the
// text can be shown on a terminal. Line ends between values stay.
func EscapeJSON(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text))
	for _, r := range string(text) {
		// What is left of these stands in strings: a marshaller escapes newline and tab there, and indents with spaces.
		if !Hidden(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.Bytes()
}
