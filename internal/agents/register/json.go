package register

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat edits JSON, with or without comments and trailing commas. Where something stands is hujson's to say; the
// edits are made in the text itself, so that every other byte stays.
var jsonFormat = format{parse: parseJSON, line: lineJSON, insert: insertJSON, remove: removeJSON, empty: "{}"}

const bom = "\ufeff"

func parseJSON(text []byte) (map[string]any, error) {
	root, err := rootJSON(text)
	if err != nil {
		return nil, err
	}
	root.Standardize()
	clean := root.Pack()
	dec := json.NewDecoder(bytes.NewReader(clean))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return nil, &fault{line: lineOf(text, root.StartOffset), message: err.Error()}
	}
	return tree, nil
}

// offsetJSON is where the JSON begins.
func offsetJSON(text []byte) int {
	if bytes.HasPrefix(text, []byte(bom)) {
		return len(bom)
	}
	return 0
}

// barred is a text in a form that hujson takes, with the same offsets: without a BOM, and with a newline after a comment
// that ends the file.
func barred(text []byte) []byte {
	out := append(slices.Clone(text), '\n')
	for i := range offsetJSON(text) {
		out[i] = ' '
	}
	return out
}

// rootJSON parses a file whose value is an object. Its offsets are those of the file.
func rootJSON(text []byte) (hujson.Value, error) {
	if err := shallow(text); err != nil {
		return hujson.Value{}, err
	}
	root, err := hujson.Parse(barred(text))
	if err != nil {
		line, cause := 1, strings.TrimPrefix(err.Error(), "hujson: ")
		var column int
		if _, err := fmt.Sscanf(cause, "line %d, column %d: ", &line, &column); err == nil {
			_, cause, _ = strings.Cut(cause, ": ")
		}
		return root, &fault{line: line, message: "it is not valid JSON: " + cause}
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return root, &fault{line: lineOf(text, root.StartOffset), message: "it is no JSON object"}
	}
	return root, nil
}

// stepJSON finds the member of a key. A key that stands there twice is a fault: clients differ in which they read.
func stepJSON(text []byte, obj *hujson.Object, key string) (int, error) {
	found := -1
	for i, m := range obj.Members {
		if m.Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if found >= 0 {
			return 0, &fault{line: lineOf(text, m.Name.StartOffset), message: fmt.Sprintf("%q stands there twice", key),
				remedy: "remove one of them"}
		}
		found = i
	}
	return found, nil
}

// A trail is the way to a value: the objects on it, and in each the index of the member that leads on.
type trail struct {
	objects []*hujson.Value
	indices []int
	end     *hujson.Value // the last value that is there
	rest    []string      // the keys that are not
}

func walkJSON(text []byte, root *hujson.Value, path []string) (trail, error) {
	t := trail{end: root}
	for n, key := range path {
		obj, ok := t.end.Value.(*hujson.Object)
		if !ok {
			return t, &fault{line: lineOf(text, t.end.StartOffset), message: strings.Join(path[:n], ".") + " is no object"}
		}
		i, err := stepJSON(text, obj, key)
		if err != nil {
			return t, err
		}
		if i < 0 {
			t.rest = path[n:]
			return t, nil
		}
		t.objects, t.indices = append(t.objects, t.end), append(t.indices, i)
		t.end = &obj.Members[i].Value
	}
	return t, nil
}

func lineJSON(text []byte, path []string) int {
	root, err := rootJSON(text)
	if err != nil {
		return 1
	}
	t, err := walkJSON(text, &root, path)
	if err != nil || len(t.rest) > 0 {
		return 1
	}
	return lineOf(text, t.end.StartOffset)
}

func insertJSON(text []byte, path []string, v value, item bool) ([]byte, error) {
	root, err := rootJSON(text)
	if err != nil {
		return nil, err
	}
	t, err := walkJSON(text, &root, path)
	if err != nil {
		return nil, err
	}
	if item && len(t.rest) > 0 {
		if s, ok := v.(string); ok {
			v = []string{s}
		} else {
			v = []table{v.(table)}
		}
	}
	for len(t.rest) > 1 {
		last := len(t.rest) - 1
		v, t.rest = table{{t.rest[last], v}}, t.rest[:last]
	}
	key := ""
	if len(t.rest) == 1 {
		key = jsonString(t.rest[0]) + ": "
	} else if _, ok := t.end.Value.(*hujson.Array); !ok {
		return nil, &fault{line: lineOf(text, t.end.StartOffset), message: strings.Join(path, ".") + " is no list"}
	}
	return addJSON(text, root, *t.end, key, v), nil
}

// addJSON puts a last element into an object or an array, in the style of the file.
func addJSON(text []byte, root, in hujson.Value, key string, v value) []byte {
	last, trailing := lastOf(in)
	closing := in.EndOffset - 1
	style := styleOf(text, root)
	inside := text[in.StartOffset+1 : closing]
	if last == nil && len(bytes.TrimSpace(inside)) == 0 {
		if style.unit == "" {
			return splice(text, in.StartOffset+1, closing, key+jsonText(v, "", "", ""))
		}
		indent := indentOf(text, in.StartOffset)
		inner := style.newline + indent + style.unit
		return splice(text, in.StartOffset+1, closing, inner+key+jsonText(v, indent+style.unit, style.unit, style.newline)+
			style.newline+indent)
	}
	comma := ""
	if trailing {
		comma = ","
	}
	if !bytes.Contains(inside, []byte("\n")) { // on one line, and not empty
		element := key + jsonText(v, "", "", "") + comma
		if last == nil {
			return splice(text, closing, closing, element)
		}
		if trailing {
			return splice(text, closing, closing, " "+element)
		}
		return splice(text, last.EndOffset, last.EndOffset, ", "+element)
	}
	indent := indentOf(text, in.StartOffset) + style.unit
	if first := firstOf(in); first != nil && startsLine(text, first.StartOffset) {
		indent = indentOf(text, first.StartOffset)
	}
	element := indent + key + jsonText(v, indent, style.unit, style.newline) + comma
	if startsLine(text, closing) {
		at := lineStart(text, closing)
		text = splice(text, at, at, element+style.newline)
	} else {
		text = splice(text, closing, closing, style.newline+element)
	}
	if last != nil && !trailing {
		text = splice(text, last.EndOffset, last.EndOffset, ",")
	}
	return text
}

// firstOf is the first name of an object or the first value of an array, nil when it is empty.
func firstOf(v hujson.Value) *hujson.Value {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if len(c.Members) > 0 {
			return &c.Members[0].Name
		}
	case *hujson.Array:
		if len(c.Elements) > 0 {
			return &c.Elements[0]
		}
	}
	return nil
}

// lastOf is the last value of an object or array, nil when it is empty, and whether a comma follows it.
func lastOf(v hujson.Value) (*hujson.Value, bool) {
	var last *hujson.Value
	switch c := v.Value.(type) {
	case *hujson.Object:
		if n := len(c.Members); n > 0 {
			last = &c.Members[n-1].Value
		}
	case *hujson.Array:
		if n := len(c.Elements); n > 0 {
			last = &c.Elements[n-1]
		}
	}
	return last, last != nil && last.AfterExtra != nil
}

// A style is how a file is laid out.
type style struct{ unit, newline string }

// styleOf is the style of a file; its unit is "" when all of it stands on one line.
func styleOf(text []byte, root hujson.Value) style {
	s := style{"  ", newlineOf(text)}
	first := firstOf(root)
	switch {
	case first == nil:
	case startsLine(text, first.StartOffset):
		if indent := indentOf(text, first.StartOffset); indent != "" {
			s.unit = indent
		}
	case !bytes.Contains(text[root.StartOffset:root.EndOffset], []byte("\n")):
		s.unit = ""
	}
	return s
}

func removeJSON(text []byte, path []string, item func(v any) bool, kept func(path []string) bool) ([]byte, error) {
	root, err := rootJSON(text)
	if err != nil {
		return nil, err
	}
	t, err := walkJSON(text, &root, path)
	if err != nil || len(t.rest) > 0 {
		return text, nil // what cannot be walked to is none of ours
	}
	if item != nil {
		list, ok := t.end.Value.(*hujson.Array)
		if !ok {
			return text, nil
		}
		i := slices.IndexFunc(list.Elements, func(v hujson.Value) bool {
			v = v.Clone() // Standardize keeps no comment
			v.Standardize()
			var is any
			return json.Unmarshal(v.Pack(), &is) == nil && item(is)
		})
		if i < 0 {
			return text, nil
		}
		spans := make([]span, len(list.Elements))
		for n, v := range list.Elements {
			spans[n] = span{v.StartOffset, v.EndOffset, v.EndOffset + len(v.AfterExtra)}
		}
		text = dropJSON(text, *t.end, spans, i)
	} else {
		in := t.objects[len(t.objects)-1]
		text = dropMember(text, *in, t.indices[len(t.indices)-1])
		path = path[:len(path)-1]
	}
	return tidyJSON(text, path, kept)
}

// tidyJSON removes the container of a path, and those around it, if nothing is left in them and they are not kept.
func tidyJSON(text []byte, path []string, kept func(path []string) bool) ([]byte, error) {
	for ; len(path) > 0 && !kept(path); path = path[:len(path)-1] {
		root, err := rootJSON(text)
		if err != nil {
			return nil, err
		}
		t, err := walkJSON(text, &root, path)
		if err != nil || len(t.rest) > 0 {
			return text, err
		}
		in := t.objects[len(t.objects)-1].Value.(*hujson.Object)
		name := in.Members[t.indices[len(t.indices)-1]].Name
		comment := len(bytes.Trim(text[name.EndOffset:t.end.StartOffset], " \t\r\n:")) > 0
		if comment || firstOf(*t.end) != nil || len(bytes.TrimSpace(text[t.end.StartOffset+1:t.end.EndOffset-1])) > 0 {
			return text, nil
		}
		text = dropMember(text, *t.objects[len(t.objects)-1], t.indices[len(t.indices)-1])
	}
	return text, nil
}

// A span is an element of a container: from, to, and the comma that follows it, if one does.
type span struct{ from, to, comma int }

func dropMember(text []byte, in hujson.Value, i int) []byte {
	obj := in.Value.(*hujson.Object)
	spans := make([]span, len(obj.Members))
	for n, m := range obj.Members {
		spans[n] = span{m.Name.StartOffset, m.Value.EndOffset, m.Value.EndOffset + len(m.Value.AfterExtra)}
	}
	return dropJSON(text, in, spans, i)
}

// dropJSON takes the i-th element out of a container, with its comma and its line, and leaves all comments.
func dropJSON(text []byte, in hujson.Value, spans []span, i int) []byte {
	s := spans[i]
	_, trailing := lastOf(in)
	own := i < len(spans)-1 || trailing // a comma follows it
	from, to := s.from, s.to
	if own && len(bytes.TrimSpace(text[s.to:s.comma])) == 0 {
		to = s.comma + 1
	} else if own {
		text = splice(text, s.comma, s.comma+1, " ") // a comment stands before it; a blank keeps the offsets
	}
	end := to
	for end < len(text) && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r') {
		end++
	}
	switch {
	case startsLine(text, from) && end < len(text) && text[end] == '\n':
		from, to = lineStart(text, from), end+1
	case !own && i > 0 && len(bytes.TrimSpace(text[spans[i-1].comma+1:from])) == 0:
		from = spans[i-1].comma + 1
	case own && i == 0 || startsLine(text, from):
		to = end
	default: // within a line: the blanks before it are its own
		for from > 0 && (text[from-1] == ' ' || text[from-1] == '\t') {
			from--
		}
	}
	text = splice(text, from, to, "")
	if !own && i > 0 {
		text = splice(text, spans[i-1].comma, spans[i-1].comma+1, "")
	}
	if open := in.StartOffset; len(spans) == 1 {
		end := open + 1
		for end < len(text) && strings.ContainsRune(" \t\r\n", rune(text[end])) {
			end++
		}
		if text[end] == '}' || text[end] == ']' {
			text = splice(text, open+1, end, "")
		}
	}
	return text
}
