package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// none is the printed form of a list that was never configured.
const none = "none"

// literal returns a value of the table as TOML; a nil list is "none".
func literal(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quote(v)
	case []string:
		if v == nil {
			return none
		}
		items := make([]string, len(v))
		for i, s := range v {
			items[i] = quote(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]string:
		if len(v) == 0 {
			return "{}"
		}
		var items []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			items = append(items, printable(name)+" = "+quote(v[name]))
		}
		return "{ " + strings.Join(items, ", ") + " }"
	default:
		panic("config: a key of a type that the table does not have")
	}
}

// quote returns a TOML basic string. JSON's escapes are also TOML's, except for DEL, which JSON
// does not escape.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // JSON encodes every string
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// printable returns a name bare if TOML allows that, else quoted.
func printable(name string) string {
	const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	if name != "" && strings.Trim(name, bare) == "" {
		return name
	}
	return quote(name)
}

// dotted returns a path as TOML writes it: a."b.c" is not a.b.c.
func dotted(path []string) string {
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = printable(name)
	}
	return strings.Join(names, ".")
}

// value returns the value of the key in c.
func (k key) value(c Config) any {
	switch p := k.field(&c).(type) {
	case *int:
		return *p
	case *bool:
		return *p
	case *string:
		return *p
	case *[]string:
		return *p
	default:
		return *p.(*map[string]string)
	}
}

// children returns, in the order of the table, the names that are allowed directly under path; ""
// is the top of the file.
func children(path string) []string {
	var names []string
	for _, k := range keys {
		rest, ok := strings.CutPrefix("."+k.name, "."+path+".")
		if path == "" {
			rest, ok = k.name, true
		}
		name, _, _ := strings.Cut(rest, ".")
		if ok && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	if path == "" {
		names = append(names, rulesKey)
	}
	return names
}
