package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Parse reads the text of a ferrus.toml. Errors name the file as name, the line, the key and the
// allowed values.
func Parse(name string, data []byte) (Config, error) {
	if len(data) > maxFile {
		return Config{}, tooLarge(name)
	}
	if line, ok := notUTF8(data); ok {
		return Config{}, fmt.Errorf("%s:%d: not UTF-8; save the file in that encoding", name, line)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // the decoder counts its offsets from behind it
	found, err := entries(data)
	if pe := (toml.ParseError{}); errors.As(err, &pe) {
		return Config{}, fmt.Errorf("%s:%d: %s", name, lineAt(data, pe.Position.Start), visible(meaning(pe.Message)))
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: %v", name, err)
	}
	c := Default()
	c.lines = map[string]int{}
	for _, e := range found {
		if err := c.set(e); err != nil {
			return Config{}, fmt.Errorf("%s:%d: %v", name, e.line, err)
		}
	}
	if line, err := c.parseRules(data); err != nil {
		return Config{}, fmt.Errorf("%s:%d: %v", name, line, err)
	}
	if line, err := c.agree(); err != nil {
		return Config{}, fmt.Errorf("%s:%d: %v", name, line, err)
	}
	return c, nil
}

// meaning adds to an error of the parser what was probably meant.
func meaning(said string) string {
	if key, twice := strings.CutSuffix(strings.TrimPrefix(said, "Key "), " has already been defined."); twice {
		return strings.Trim(key, "'") + " is defined twice; keep one, with all of its keys"
	}
	if strings.HasPrefix(said, `expected value but found "`) {
		return said + `; write a string in quotes, as in "make test"`
	}
	return said
}

func tooLarge(name string) error {
	return fmt.Errorf("%s: larger than %d KiB", name, maxFile>>10)
}

// An entry is one key of the file. Known tables are opened, so their keys are entries too; an
// unknown table is one entry.
type entry struct {
	path  []string
	value any
	line  int
}

// entries returns the keys of the file in the order of their lines.
func entries(data []byte) ([]entry, error) {
	var top map[string]toml.Primitive
	md, err := toml.NewDecoder(bytes.NewReader(data)).Decode(&top)
	if err != nil {
		return nil, err
	}
	file := file{md, data}
	var found []entry
	var walk func(table map[string]toml.Primitive, path []string, line int)
	walk = func(table map[string]toml.Primitive, path []string, line int) {
		for name, prim := range table {
			e := entry{
				path:  append(slices.Clone(path), name),
				value: file.probe(prim).value,
				line:  cmp.Or(file.line(prim), line), // the decoder loses the place of a."" = 1
			}
			found = append(found, e)
			if _, isTable := e.value.(map[string]any); isTable && opens(e.path) {
				walk(file.open(prim), e.path, e.line)
			}
		}
	}
	walk(top, nil, 1)
	slices.SortFunc(found, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(len(a.path), len(b.path)), slices.Compare(a.path, b.path))
	})
	return found, nil
}

func opens(path []string) bool {
	name := dotted(path)
	k, isKey := find(name)
	return isKey && k.isMap() || len(children(name)) > 0
}

// A file is a decoded file that can tell the line of each value.
type file struct {
	md   toml.MetaData
	data []byte
}

// A probe takes a value from the decoder and refuses it: only in an error does the decoder tell the
// line of a value.
type probe struct {
	value any
	line  int // 0: the table has no header in the file
}

var errProbe = errors.New("probe")

// UnmarshalTOML implements toml.Unmarshaler.
func (p *probe) UnmarshalTOML(v any) error { p.value = v; return errProbe }

func (f file) probe(prim toml.Primitive) probe {
	var p probe
	pe := toml.ParseError{}
	if errors.As(f.md.PrimitiveDecode(prim, &p), &pe) && pe.Position.Line > 0 {
		p.line = lineAt(f.data, pe.Position.Start)
	}
	return p
}

// line returns the line of the value. For a table without a header, as "limits" in
// limits.max_same_failure = 3, it is the line of its first key.
func (f file) line(prim toml.Primitive) int {
	at := f.probe(prim).line
	if at > 0 {
		return at
	}
	for _, child := range f.open(prim) {
		if n := f.line(child); at == 0 || n < at {
			at = n
		}
	}
	return at
}

// open opens a table; nil if the value is not a table.
func (f file) open(prim toml.Primitive) map[string]toml.Primitive {
	var table map[string]toml.Primitive
	if err := f.md.PrimitiveDecode(prim, &table); err != nil {
		return nil
	}
	return table
}

// lineAt returns the line at offset. The decoder's own line is wrong at the end of a long string or
// file and behind a bad escape; its offset is right.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}

// visible keeps a message on one line: the decoder quotes characters as they are.
func visible(message string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, message)
}

func notUTF8(data []byte) (line int, bad bool) {
	line = 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return line, true
		}
		if r == '\n' {
			line++
		}
		i += size
	}
	return 0, false
}
