package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// deepest is the greatest depth of nested objects and lists in a message.
const deepest = 200

// Envelope returns what is wrong with a message beyond its syntax, "" if nothing is. It refuses
// bytes after the message and duplicate names in an object: JSON readers disagree about which of
// two counts, so a log might show another call than the one that was made. Names of the message and
// of its params must also not differ only in case. For a text that is not JSON it returns "": the
// reader of messages has a better error.
func Envelope(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var names []map[string]bool // names of each open object; nil for a list
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
