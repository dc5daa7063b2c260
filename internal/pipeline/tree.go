package pipeline

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

// A node is one value of a JSON text. Beside what encoding/json gives, it knows the order of an object's keys and where
// the value stands.
type node struct {
	token json.Token // a delimiter { or [, a string, a json.Number, a bool or nil
	keys  []string   // of an object, in their order, each once
	items []node     // the values of the keys, or the items of a list
	raw   []byte
}

// A text is a parsed JSON text. A pointer names a value as in RFC 6901.
type text struct {
	root   node
	lines  map[string]int // by pointer
	faults Faults         // keys that stand twice, characters that nothing can print
}

const (
	deepest = 32      // nested values; ours have six
	largest = 1 << 20 // bytes of a file
)

// parse reads a JSON text. The faults are those that leave nothing to look at; see text.faults for the others.
func parse(data []byte) (text, Faults) {
	t := text{lines: map[string]int{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	fault := func(at int, problem, remedy string) Faults {
		return Faults{{Line: lineAt(data, at), Problem: problem, Remedy: remedy}}
	}
	if len(data) > largest {
		return t, fault(0, fmt.Sprintf("it is larger than %d KiB", largest>>10), "split it")
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
		return t, fault(at, "it is no JSON: "+err.Error(), "mend the text there or just before")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	p := parser{text: &t, dec: dec, data: data}
	root, ok := p.value("", 0)
	if !ok {
		return t, fault(int(dec.InputOffset()), fmt.Sprintf("more than %d values are nested there", deepest), "make it flatter")
	}
	t.root = root
	return t, nil
}

type parser struct {
	text *text
	dec  *json.Decoder
	data []byte
}

// value reads the value that comes next. It is false when it is nested too deeply.
func (p parser) value(pointer string, depth int) (node, bool) {
	if depth > deepest {
		return node{}, false
	}
	start := int(p.dec.InputOffset())
	start += len(p.data[start:]) - len(bytes.TrimLeft(p.data[start:], " \t\r\n:,"))
	tok, err := p.dec.Token()
	if err != nil {
		return node{}, false // the text is valid: a bug would be seen as a fault, not as a file that reads as empty
	}
	p.text.lines[pointer] = lineAt(p.data, start)
	n := node{token: tok}
	if s, ok := tok.(string); ok && strings.ContainsRune(s, 0) {
		p.text.add(pointer, "it contains the character NUL", "remove it")
	}
	if d, ok := tok.(json.Delim); ok {
		for i := 0; p.dec.More(); i++ {
			at := pointer + "/" + strconv.Itoa(i)
			if d == '{' {
				key, err := p.dec.Token()
				if err != nil {
					return node{}, false
				}
				at = pointer + "/" + escape(key.(string))
				if slices.Contains(n.keys, key.(string)) {
					p.text.faults = append(p.text.faults, Fault{Pointer: at, Line: lineAt(p.data, int(p.dec.InputOffset())),
						Problem: "it stands there twice", Remedy: "keep one of them"})
					if _, ok := p.value(at, depth+1); !ok {
						return node{}, false
					}
					continue
				}
				n.keys = append(n.keys, key.(string))
			}
			item, ok := p.value(at, depth+1)
			if !ok {
				return node{}, false
			}
			n.items = append(n.items, item)
		}
		if _, err := p.dec.Token(); err != nil {
			return node{}, false
		}
	}
	n.raw = p.data[start:p.dec.InputOffset()]
	return n, true
}

// is reports whether the node is an object ({) or a list ([).
func (n node) is(d json.Delim) bool { return n.token == d }

// kind names what the node is, for a message.
func (n node) kind() string {
	switch v := n.token.(type) {
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "a list"}[v]
	case nil:
		return "null"
	}
	short := string(n.raw)
	if len(short) > 60 {
		short = strings.ToValidUTF8(short[:60], "") + "…"
	}
	return short
}

// add notes a fault at a pointer, or at the nearest that stands in the text.
func (t *text) add(pointer, problem, remedy string) {
	at := pointer
	for t.lines[at] == 0 && at != "" {
		at = at[:strings.LastIndexByte(at, '/')]
	}
	t.faults = append(t.faults, Fault{Pointer: pointer, Line: t.lines[at], Problem: problem, Remedy: remedy})
}

func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
