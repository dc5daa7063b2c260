package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// deepest is how many objects and lists a message may have inside each other.
const deepest = 200

// Envelope says what is wrong with a message beyond its syntax, "" if nothing is or if it is no JSON at all, which the reader
// of messages says better: bytes after the message, or a name that stands twice in an object. Readers of JSON disagree about
// which of two counts, and a log may then show another call than the one that was made. Names of the message itself and
// of its params are also the same in another case.
func Envelope(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var names []map[string]bool // of each object that is open; nil for a list
	var isName bool             // the next token is a name
	for {
		at, err := dec.Token()
		if err != nil {
			return ""
		}
		if d, ok := at.(json.Delim); ok && (d == '}' || d == ']') {
			names = names[:len(names)-1]
		} else if name, ok := at.(string); ok && isName {
			key := name
			if len(names) <= 2 {
				key = strings.ToLower(name)
			}
			if names[len(names)-1][key] {
				return fmt.Sprintf("the message has %.80q twice; send each name once", name)
			}
			names[len(names)-1][key], isName = true, false
			continue
		} else if ok := at == json.Delim('{'); ok {
			names = append(names, map[string]bool{})
		} else if at == json.Delim('[') {
			names = append(names, nil)
		}
		switch {
		case len(names) > deepest:
			return fmt.Sprintf("the message is nested deeper than %d", deepest)
		case len(names) == 0:
			if len(bytes.TrimSpace(text[dec.InputOffset():])) > 0 {
				return "bytes follow the message; send one message and nothing else"
			}
			return ""
		}
		isName = names[len(names)-1] != nil
	}
}
