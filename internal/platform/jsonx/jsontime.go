package jsonx

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"
)

// Times are written in one form: RFC 3339 in UTC with three digits of milliseconds, such as 2026-01-02T03:04:05.670Z.
// encoding/json omits trailing zeros. JSON that is read may contain any form of RFC 3339.

// Layout is the form, for [time.Time.Format] of a time in UTC.
const Layout = "2006-01-02T15:04:05.000Z"

// Marshal is json.Marshal with the times of v in the one form.
func Marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return Rewrite(text, v), err
}

// MarshalIndent is json.MarshalIndent with the times of v in the one form.
func MarshalIndent(v any, prefix, indent string) ([]byte, error) {
	text, err := json.MarshalIndent(v, prefix, indent)
	return Rewrite(text, v), err
}

// Rewrite brings the times in the JSON of v into the one form. It finds them by the type of v: the
// members whose fields are times; where the type leaves a value open, by the value. It changes no
// other string, whatever it looks like.
func Rewrite(text []byte, v any) []byte {
	keys := keysOf(v)
	if len(keys) == 0 {
		return text
	}
	var out []byte // the rewritten text[:done]; nil before the first change
	done := 0
	for at := 0; ; {
		from, to, ok := next(text, at)
		if !ok {
			break
		}
		at = to + 1
		if colon := skip(text, at); !keys[string(text[from:to])] || colon == len(text) || text[colon] != ':' {
			continue
		} else if at = skip(text, colon+1); at == len(text) || text[at] != '"' {
			continue
		}
		from, to, ok = next(text, at)
		if !ok {
			break
		}
		at = to + 1
		if is, ok := form(string(text[from:to])); ok {
			out = append(append(out, text[done:from]...), is...)
			done = to
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// next returns the range of the next string from at, between its quotes.
func next(text []byte, at int) (from, to int, ok bool) {
	n := bytes.IndexByte(text[at:], '"')
	if n < 0 {
		return 0, 0, false
	}
	from = at + n + 1
	for to = from; to < len(text); to++ {
		switch text[to] {
		case '\\':
			to++
		case '"':
			return from, to, true
		}
	}
	return 0, 0, false
}

// skip returns the first position from at that is not white space.
func skip(text []byte, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at
}

// form returns a time in the one form; ok reports whether it was in another.
func form(was string) (is string, ok bool) {
	if len(was) == len(Layout) && strings.HasSuffix(was, "Z") {
		return was, false
	}
	t, err := time.Parse(time.RFC3339Nano, was)
	return t.UTC().Format(Layout), err == nil
}

// members are the names of the members of a type, at any depth, that are times.
type members struct {
	keys map[string]bool
	open bool // it has values of any type
}

var known sync.Map // of reflect.Type: its members

func membersOf(t reflect.Type) members {
	if m, ok := known.Load(t); ok {
		return m.(members)
	}
	m := members{keys: map[string]bool{}}
	m.collect(t, map[reflect.Type]bool{})
	known.Store(t, m)
	return m
}

func (m *members) collect(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		m.open = true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		m.collect(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if of != reflect.TypeFor[time.Time]() {
				m.collect(f.Type, seen)
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			m.keys[name] = true
		}
	}
}

// keysOf returns the names of the members of a value, at any depth, that are times.
func keysOf(v any) map[string]bool {
	if v == nil {
		return nil
	}
	m := membersOf(reflect.TypeOf(v))
	if !m.open {
		return m.keys
	}
	keys := maps.Clone(m.keys)
	addKeys(reflect.ValueOf(v), keys)
	return keys
}

// addKeys adds what the open values of v have.
func addKeys(v reflect.Value, keys map[string]bool) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			maps.Copy(keys, keysOf(v.Elem().Interface()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			addKeys(v.Elem(), keys)
		}
	case reflect.Slice, reflect.Array:
		if membersOf(v.Type()).open {
			for i := range v.Len() {
				addKeys(v.Index(i), keys)
			}
		}
	case reflect.Map:
		if !membersOf(v.Type()).open {
			return
		}
		for key, value := range v.Seq2() {
			if value.Kind() == reflect.Interface && !value.IsNil() && value.Elem().Type() == reflect.TypeFor[time.Time]() && key.Kind() == reflect.String {
				keys[key.String()] = true
			}
			addKeys(value, keys)
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if f.IsExported() && membersOf(f.Type).open {
				addKeys(value, keys)
			}
		}
	}
}
