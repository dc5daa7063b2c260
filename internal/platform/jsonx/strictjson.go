// Package jsonx reads JSON that people write, and writes the times of all JSON in one form. The reader keeps the order of keys and
// the line of each value, and refuses keys that occur twice, so that every mistake in a file can be named with its place. What the
// values mean is up to the caller.
package jsonx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Node is one value of a JSON text. Beside what encoding/json gives, it knows the order of an object's keys and where
// the value stands.
type Node struct {
	Token json.Token // a delimiter { or [, a string, a json.Number, a bool or nil
	Keys  []string   // of an object, in their order, each once
	Items []Node     // the values of the keys, or the items of a list
	Raw   []byte
}

// A Text is a parsed JSON text. A pointer names a value as in RFC 6901.
type Text struct {
	Root   Node
	lines  map[string]int // by pointer
	Faults Faults         // keys that stand twice, characters that nothing can print
}

const (
	deepest = 32 // nested values; workflows.json has six
	// MaxSize is the largest file in bytes.
	MaxSize = 1 << 20
)

// Parse reads a JSON text. The faults are those that leave nothing to look at; see Text.Faults for the others.
func Parse(data []byte) (Text, Faults) {
	t := Text{lines: map[string]int{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	fault := func(at int, problem, remedy string) Faults {
		return Faults{{Line: lineAt(data, at), Problem: problem, Remedy: remedy}}
	}
	if len(data) > MaxSize {
		return t, fault(0, fmt.Sprintf("it is larger than %d KiB", MaxSize>>10), "split it")
	}
	if !utf8.Valid(data) {
		at := 0
		for at < len(data) {
			r, size := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return t, fault(at, "it is not UTF-8", "save the file in that encoding")
	}
	var any json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		at := 0
		if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
			at = int(se.Offset)
		}
		return t, fault(at, "it is not valid JSON: "+err.Error(), "fix the text there or just before")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	p := parser{text: &t, dec: dec, data: data}
	root, ok := p.value("", 0)
	if !ok {
		return t, fault(int(dec.InputOffset()), fmt.Sprintf("more than %d values are nested there", deepest), "make it flatter")
	}
	t.Root = root
	return t, nil
}

type parser struct {
	text *Text
	dec  *json.Decoder
	data []byte
}

// value reads the value that comes next. It is false when it is nested too deeply.
func (p parser) value(pointer string, depth int) (Node, bool) {
	if depth > deepest {
		return Node{}, false
	}
	start := int(p.dec.InputOffset())
	start += len(p.data[start:]) - len(bytes.TrimLeft(p.data[start:], " \t\r\n:,"))
	tok, err := p.dec.Token()
	if err != nil {
		return Node{}, false // the text is valid: a bug would be seen as a fault, not as a file that reads as empty
	}
	p.text.lines[pointer] = lineAt(p.data, start)
	n := Node{Token: tok}
	if s, ok := tok.(string); ok && strings.ContainsRune(s, 0) {
		p.text.AddFault(pointer, "it contains the character NUL", "remove it")
	}
	if d, ok := tok.(json.Delim); ok {
		for i := 0; p.dec.More(); i++ {
			at := pointer + "/" + strconv.Itoa(i)
			if d == '{' {
				key, err := p.dec.Token()
				if err != nil {
					return Node{}, false
				}
				at = pointer + "/" + Escape(key.(string))
				if slices.Contains(n.Keys, key.(string)) {
					p.text.Faults = append(p.text.Faults, Fault{Pointer: at, Line: lineAt(p.data, int(p.dec.InputOffset())),
						Problem: "the key occurs twice", Remedy: "keep one of them"})
					if _, ok := p.value(at, depth+1); !ok {
						return Node{}, false
					}
					continue
				}
				n.Keys = append(n.Keys, key.(string))
			}
			item, ok := p.value(at, depth+1)
			if !ok {
				return Node{}, false
			}
			n.Items = append(n.Items, item)
		}
		if _, err := p.dec.Token(); err != nil {
			return Node{}, false
		}
	}
	n.Raw = p.data[start:p.dec.InputOffset()]
	return n, true
}

// Is reports whether the node is an object ({) or a list ([).
func (n Node) Is(d json.Delim) bool { return n.Token == d }

// Kind names what the node is, for a message.
func (n Node) Kind() string {
	switch v := n.Token.(type) {
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "a list"}[v]
	case nil:
		return "null"
	}
	short := string(n.Raw)
	if len(short) > 60 {
		short = strings.ToValidUTF8(short[:60], "") + "…"
	}
	return short
}

// AddFault notes a fault at a pointer, or at the nearest that stands in the text.
func (t *Text) AddFault(pointer, problem, remedy string) {
	at := pointer
	for t.lines[at] == 0 && at != "" {
		at = at[:strings.LastIndexByte(at, '/')]
	}
	t.Faults = append(t.Faults, Fault{Pointer: pointer, Line: t.lines[at], Problem: problem, Remedy: remedy})
}

// escape is made once: a replacer is dear to make, and every key of every document is escaped.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// Escape returns a key as a part of a pointer.
func Escape(key string) string { return escape.Replace(key) }

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
