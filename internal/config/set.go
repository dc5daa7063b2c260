package config

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// set applies one entry of the file, or returns why it is not allowed there. Entries come in the
// order of their lines, a table before its keys.
func (c *Config) set(e entry) error {
	name, parent := dotted(e.path), dotted(e.path[:len(e.path)-1])
	if k, ok := find(name); ok {
		if at := c.lines[k.name]; at > 0 {
			return fmt.Errorf("%s is the old name of %s and both are set (the other in line %d); keep %[2]s",
				oldNameOf(k.name), k.name, at)
		}
		c.lines[k.name] = e.line
		return k.set(c, name, e.value)
	}
	if k, ok := find(parent); ok && k.isMap() {
		return setMember(*k.field(c).(*map[string]string), k.name, e)
	}
	if name == rulesKey {
		c.lines[name] = e.line // parseRules reads them
		return nil
	}
	if len(children(name)) == 0 {
		return unknown(e)
	}
	if _, ok := e.value.(map[string]any); !ok {
		return fmt.Errorf("%s must be a table, [%[1]s] with keys %s, not %s",
			name, strings.Join(children(name), ", "), kind(e.value))
	}
	return nil
}

// placeholder matches a name in braces.
var placeholder = safetext.Lazily(`\{[^{}]*\}`)

func (k key) set(c *Config, name string, value any) error {
	refuse := func() error {
		if _, ok := value.(string); ok && k.secret {
			return fmt.Errorf("%s must be %s, not a string", name, k.allowed())
		}
		return fmt.Errorf("%s must be %s, not %s", name, k.allowed(), kind(value))
	}
	switch p := k.field(c).(type) {
	case *int:
		n, ok := value.(int64)
		if least, most := k.bounds(); !ok || n < int64(least) || n > int64(most) {
			return refuse()
		}
		*p = int(n)
	case *bool:
		is, ok := value.(bool)
		if !ok {
			return refuse()
		}
		*p = is
	case *string:
		s, ok := value.(string)
		if !ok || strings.ContainsRune(s, 0) || k.filled && strings.TrimSpace(s) == "" || k.folder && !below(s) {
			return refuse()
		}
		if _, err := (Day{Zone: s}).Location(); k.zone && err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if k.words != nil && !slices.Contains(k.words, s) {
			return k.meant(refuse(), s)
		}
		if k.holes != nil {
			for _, hole := range placeholder().FindAllString(s, -1) {
				if !slices.Contains(k.holes, hole) {
					return fmt.Errorf("%s has an unknown placeholder %s; known are %s", name, hole, strings.Join(k.holes, " and "))
				}
			}
		}
		*p = s
	case *[]string:
		list, ok := value.([]any)
		if !ok {
			return refuse()
		}
		*p = make([]string, 0, len(list))
		for i, v := range list {
			s, ok := v.(string)
			if k.secret {
				if err := checkURL(s); !ok || err != nil {
					return fmt.Errorf("%s: item %d %v", name, i+1, cmp.Or(err, errNoURL))
				}
			}
			if !ok || strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
				return fmt.Errorf("%s must be %s; item %d is %s", name, k.allowed(), i+1, kind(v))
			}
			if _, err := path.Match(s, ""); k.globs && err != nil {
				return fmt.Errorf("%s: item %d, %s, is not a pattern: a bracket or a backslash is not closed", name, i+1, kind(v))
			}
			*p = append(*p, s)
		}
	case *map[string]string:
		if _, ok := value.(map[string]any); !ok {
			return refuse()
		}
		*p = map[string]string{} // its members are separate entries
	}
	return nil
}

func setMember(m map[string]string, table string, e entry) error {
	name := e.path[len(e.path)-1]
	s, ok := e.value.(string)
	if !ok || strings.ContainsRune(s, 0) {
		return fmt.Errorf("%s.%s must be a string, not %s", table, name, kind(e.value))
	}
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf("%s: %q cannot be the name of an environment variable", table, name)
	}
	m[name] = s
	return nil
}

// meant adds to a refusal the word that was probably meant.
func (k key) meant(refusal error, word string) error {
	if near := format.Word(word, k.words); near != "" {
		return fmt.Errorf("%v; did you mean %s?", refusal, near)
	}
	return refusal
}

// allowed describes the allowed values of the key, to follow "must be".
func (k key) allowed() string {
	switch k.def.(type) {
	case int:
		least, most := k.bounds()
		return fmt.Sprintf("a whole number from %d to %d", least, most)
	case bool:
		return "true or false"
	case string:
		switch {
		case k.words != nil:
			return "one of " + strings.Trim(literal(k.words), "[]")
		case k.zone:
			return "the name of a time zone"
		case k.folder:
			return "a folder below the project"
		case k.filled:
			return "a string that is not blank"
		}
		return "a string"
	case []string:
		if k.secret {
			return "a list of URLs and of names of variables, `$FERRUS_NOTIFY...`"
		}
		return "a list of strings, none of them blank"
	default:
		return "a table of strings"
	}
}

// kind describes a refused value: the value itself if it is short, else its type.
func kind(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > 40 {
			return "a long string"
		}
		return literal(v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case []map[string]any:
		return "a list of tables"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}

// unknown returns the error of an entry that is not in the table. It suggests the nearest name in
// the same table, otherwise the nearest full name anywhere.
func unknown(e entry) error {
	parent, name := dotted(e.path[:len(e.path)-1]), e.path[len(e.path)-1]
	what := "key"
	if _, ok := e.value.(map[string]any); ok {
		what = "table"
	}
	full := dotted(e.path)
	if near := format.Word(name, children(parent)); near != "" {
		return fmt.Errorf("unknown %s %s; did you mean %s?", what, full, near)
	}
	var others, names []string // the last part, and the full name
	for _, k := range keys {
		whole, last := k.name, k.last()
		if what == "table" {
			whole = k.table()
			last = whole[strings.LastIndexByte(whole, '.')+1:]
		}
		others, names = append(others, last), append(names, whole)
	}
	if near := format.Word(name, others); near != "" {
		return fmt.Errorf("unknown %s %s; did you mean %s?", what, full, names[slices.Index(others, near)])
	}
	at := "at the top are"
	if parent != "" {
		at = "in [" + parent + "] are"
	}
	return fmt.Errorf("unknown %s %s; known %s %s", what, full, at, strings.Join(children(parent), ", "))
}

func oldNameOf(name string) string {
	for was, now := range oldNames {
		if now == name {
			return was
		}
	}
	return name
}
