package register

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlFormat edits TOML. A writer of TOML would lose comments and order, so what is ours is put in and taken out as
// text; the parser says before and after what the text means.
var tomlFormat = format{parse: parseTOML, line: lineTOML, insert: insertTOML, remove: removeTOML}

func parseTOML(text []byte) (map[string]any, error) {
	if err := shallow(text); err != nil {
		return nil, err
	}
	var tree map[string]any
	_, err := toml.Decode(string(text[offsetJSON(text):]), &tree)
	var wrong toml.ParseError
	switch {
	case errors.As(err, &wrong):
		// Its own line is one too far where a line ends too early.
		at := offsetJSON(text) + wrong.Position.Start
		return nil, &fault{line: lineOf(text, at), message: "it is no TOML: " + wrong.Message}
	case err != nil:
		return nil, &fault{line: 1, message: "it is no TOML: " + err.Error()}
	case tree == nil:
		tree = map[string]any{}
	}
	return tree, nil
}

func lineTOML(text []byte, path []string) int {
	list, _ := scan(text)
	for _, st := range flat(list) {
		if begins(st.path, path) {
			return lineOf(text, st.from)
		}
	}
	return 1
}

// flat are all statements, those within inline tables too.
func flat(list []statement) []statement {
	var all []statement
	for _, st := range list {
		all = append(append(all, st), flat(st.inner)...)
	}
	return all
}

// begins reports whether a path begins with another one.
func begins(path, with []string) bool {
	return len(path) >= len(with) && slices.Equal(path[:len(with)], with)
}

// insertTOML puts a value where the file has its neighbours: into an inline table, below a header, beside dotted keys,
// or else at the end with a header of its own.
func insertTOML(text []byte, path []string, v value, _ bool) ([]byte, error) {
	list, err := scan(text)
	if err != nil {
		return nil, err
	}
	whole, isTable := v.(table)
	in := path[:len(path)-1] // the table that gets the key
	for _, st := range flat(list) {
		if !st.header && len(st.path) < len(path) && begins(path, st.path) && text[st.value.from] == '{' &&
			!slices.ContainsFunc(st.inner, func(s statement) bool { return len(s.path) < len(path) && begins(path, s.path) }) {
			return intoInline(text, st, dotted(path[len(st.path):])+" = "+tomlText(v)), nil
		}
	}
	if isTable {
		return section(text, path, whole), nil
	}
	newline := newlineOf(text)
	best := -1 // the last header that leads to the key, or a dotted neighbour
	for i, st := range list {
		if st.header && len(st.path) < len(path) && begins(path, st.path) &&
			(best < 0 || len(st.path) > len(list[best].path)) {
			best = i
		}
	}
	if best >= 0 && (len(list[best].path) == len(in) || neighbour(list, list[best].path, in)) {
		at := best // the last pair below the header
		for at+1 < len(list) && !list[at+1].header {
			at++
		}
		end := lineEnd(text, list[at].to)
		pair := dotted(path[len(list[best].path):]) + " = " + tomlText(v)
		return splice(text, end, end, newlineBefore(text, end, newline)+pair+newline), nil
	}
	if len(in) > 0 && !neighbour(list, nil, in) {
		return section(text, in, table{{path[len(path)-1], v}}), nil
	}
	end := offsetJSON(text) // after the last pair before all headers
	for _, st := range list {
		if st.header {
			break
		}
		end = lineEnd(text, st.to)
	}
	blank := ""
	if end == offsetJSON(text) && len(text) > end {
		blank = newline
	}
	return splice(text, end, end, newlineBefore(text, end, newline)+dotted(path)+" = "+tomlText(v)+newline+blank), nil
}

// neighbour reports whether a table has got a key by a dotted key below the header of a path.
func neighbour(list []statement, header, in []string) bool {
	var under []string
	for _, st := range list {
		switch {
		case st.header:
			under = st.path
		case slices.Equal(under, header) && len(st.path) > len(in) && begins(st.path, in) && len(in) > len(header):
			return true
		}
	}
	return false
}

func dotted(path []string) string {
	keys := make([]string, len(path))
	for i, k := range path {
		keys[i] = tomlKey(k)
	}
	return strings.Join(keys, ".")
}

// intoInline puts a last pair into an inline table.
func intoInline(text []byte, st statement, pair string) []byte {
	closing := st.value.to - 1
	if len(st.inner) == 0 {
		if inside := text[st.value.from+1 : closing]; len(bytes.TrimSpace(inside)) == 0 {
			return splice(text, st.value.from+1, closing, " "+pair+" ")
		}
		return splice(text, st.value.from+1, st.value.from+1, " "+pair)
	}
	last := st.inner[len(st.inner)-1]
	if last.value.comma > 0 { // TOML 1.1 allows it
		return splice(text, last.value.comma+1, last.value.comma+1, " "+pair+",")
	}
	return splice(text, last.to, last.to, ", "+pair)
}

// section appends a table with a header of its own.
func section(text []byte, path []string, v table) []byte {
	newline := newlineOf(text)
	var b strings.Builder
	if rest := text[offsetJSON(text):]; len(rest) > 0 {
		b.WriteString(newlineBefore(text, len(text), newline))
		if len(bytes.TrimSpace(rest)) > 0 {
			b.WriteString(newline)
		}
	}
	b.WriteString("[" + dotted(path) + "]" + newline)
	for _, e := range v {
		b.WriteString(tomlKey(e.key) + " = " + tomlText(e.value) + newline)
	}
	return splice(text, len(text), len(text), b.String())
}

// lineEnd is the offset after the newline that ends the line of an offset.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// newlineBefore is the newline that is missing before an offset, if one is.
func newlineBefore(text []byte, offset int, newline string) string {
	if offset > offsetJSON(text) && text[offset-1] != '\n' {
		return newline
	}
	return ""
}

// removeTOML takes out every statement that is at a path or below it, wherever the file has them, and then the headers
// of the containers that nothing is left in.
func removeTOML(text []byte, path []string, _ func(v any) bool, kept func(path []string) bool) ([]byte, error) {
	text, err := dropTOML(text, func(st statement) bool { return begins(st.path, path) })
	for in := path[:len(path)-1]; err == nil && len(in) > 0 && !kept(in); in = in[:len(in)-1] {
		var list []statement
		if list, err = scan(text); err != nil {
			break
		}
		if slices.ContainsFunc(flat(list), func(st statement) bool { return len(st.path) > len(in) && begins(st.path, in) }) {
			break
		}
		text, err = dropTOML(text, func(st statement) bool { return slices.Equal(st.path, in) })
	}
	return text, err
}

// dropTOML takes out all statements of a kind, with their lines. Lines that hold a comment and nothing else stay.
func dropTOML(text []byte, which func(statement) bool) ([]byte, error) {
	list, err := scan(text)
	if err != nil {
		return nil, err
	}
	var regions []span
	for _, st := range list {
		if !which(st) {
			continue
		}
		from, to := lineStart(text, st.from), lineEnd(text, st.to)
		if n := len(regions); n > 0 && regions[n-1].to == from {
			regions[n-1].to = to
			continue
		}
		if st.header && from > 0 {
			// The blank line before a table goes with it.
			if before := lineStart(text, from-1); len(bytes.TrimSpace(text[before:from])) == 0 {
				from = max(before, offsetJSON(text))
			}
		}
		regions = append(regions, span{from: from, to: to})
	}
	for _, r := range slices.Backward(regions) {
		first := lineEnd(text, r.from)
		if blank := len(bytes.TrimSpace(text[r.from:first])) == 0; blank && r.to < len(text) &&
			len(bytes.TrimSpace(text[r.to:lineEnd(text, r.to)])) > 0 {
			r.from = first // but not when what follows stands right below it
		}
		text = splice(text, r.from, r.to, "")
	}
	for {
		list, err := scan(text)
		if err != nil {
			return nil, err
		}
		next, found := text, false
		for _, st := range list {
			if !found {
				next, found = dropInline(text, st.inner, which)
			}
		}
		if !found {
			return text, nil
		}
		text = next
	}
}

// dropInline takes a pair out of an inline table, with its comma.
func dropInline(text []byte, inner []statement, which func(statement) bool) ([]byte, bool) {
	for i, st := range inner {
		if !which(st) {
			if next, found := dropInline(text, st.inner, which); found {
				return next, true
			}
			continue
		}
		from, to := st.from, st.to
		switch {
		case i < len(inner)-1:
			to = inner[i+1].from
		case i > 0:
			from = inner[i-1].to
		case st.value.comma > 0:
			to = st.value.comma + 1
		}
		if i > 0 && i == len(inner)-1 && st.value.comma > 0 {
			from, to = inner[i-1].value.comma+1, st.value.comma+1
		}
		return splice(text, from, to, ""), true
	}
	return text, false
}
