package register

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A value is what we write: a string, a bool, an int, a []string, a table or a []table.
type value = any

// A table is an object of a configuration file, in the order in which it is written.
type table []entry

type entry struct {
	key   string
	value value
}

// plain is a value as a parser would return it, for comparisons.
func plain(v value) any {
	switch v := v.(type) {
	case table:
		m := map[string]any{}
		for _, e := range v {
			m[e.key] = plain(e.value)
		}
		return m
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case []table:
		list := make([]any, len(v))
		for i, t := range v {
			list[i] = plain(t)
		}
		return list
	}
	return v
}

// same reports whether two values of parsers, or of plain, are equal. Numbers are compared as they are written, and a
// NaN is equal to itself.
func same(a, b any) bool { return show(a) == show(b) }

func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, k := range sorted(v) {
			fmt.Fprintf(&b, "%q:%s,", k, show(v[k]))
		}
		return "{" + b.String() + "}"
	case []map[string]any: // an array of tables, of the TOML parser
		list := make([]any, len(v))
		for i, m := range v {
			list[i] = m
		}
		return show(list)
	case []any:
		var b strings.Builder
		for _, item := range v {
			b.WriteString(show(item) + ",")
		}
		return "[" + b.String() + "]"
	case string:
		return strconv.Quote(v)
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

// jsonText is a value as JSON: on one line when unit is "", else indented below indent.
func jsonText(v value, indent, unit, newline string) string {
	switch v := v.(type) {
	case table:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = jsonString(e.key) + ": " + jsonText(e.value, indent+unit, unit, newline)
		}
		return bracket('{', items, '}', indent, unit, newline)
	case []string:
		items := make([]string, len(v))
		for i, s := range v {
			items[i] = jsonString(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case []table:
		items := make([]string, len(v))
		for i, t := range v {
			items[i] = jsonText(t, indent+unit, unit, newline)
		}
		return bracket('[', items, ']', indent, unit, newline)
	case string:
		return jsonString(v)
	}
	return fmt.Sprint(v)
}

func bracket(left rune, items []string, right rune, indent, unit, newline string) string {
	if unit == "" || len(items) == 0 {
		return string(left) + strings.Join(items, ", ") + string(right)
	}
	var b strings.Builder
	b.WriteRune(left)
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(newline + indent + unit + item)
	}
	b.WriteString(newline + indent + string(right))
	return b.String()
}

// jsonString spares what encoding/json escapes for browsers.
func jsonString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// tomlText is a value as TOML on one line.
func tomlText(v value) string {
	switch v := v.(type) {
	case table:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = tomlKey(e.key) + " = " + tomlText(e.value)
		}
		return "{ " + strings.Join(items, ", ") + " }"
	case []string:
		items := make([]string, len(v))
		for i, s := range v {
			items[i] = tomlString(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return tomlString(v)
	}
	return fmt.Sprint(v)
}

// tomlString is a literal string where that spares backslashes, as in paths of Windows, else a basic one.
func tomlString(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func tomlKey(s string) string {
	bare := func(r rune) bool {
		return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !bare(r) }) {
		return s
	}
	return tomlString(s)
}
