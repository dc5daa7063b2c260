package register

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// A statement is a header, a key with its value, or such a pair within an inline table.
type statement struct {
	path     []string // from the root of the file, with that of the header above it
	header   bool
	from, to int  // the statement itself, without blanks, comment and newline
	value    span // of a key: where its value stands
	inner    []statement
}

// scan lists the statements of a text that is known to be sound TOML: it looks for where things stand, not for faults.
// The tables of an array have one path: who edits must prove afterwards that it was not one of these.
func scan(text []byte) (list []statement, err error) {
	defer func() {
		// Sound TOML is scanned to its end. What the parser takes and we do not must not be edited.
		if r := recover(); r != nil {
			list, err = nil, &fault{line: 1, message: fmt.Sprintf("it is TOML that ferrus cannot edit (%v)", r)}
		}
	}()
	s := scanner{text: text, at: offsetJSON(text)}
	var under []string
	for s.blanks(true); s.at < len(text); s.blanks(true) {
		st := statement{from: s.at}
		if text[s.at] != '[' {
			s.pair(&st, under)
			list = append(list, st)
			continue
		}
		st.header = true
		double := s.at+1 < len(text) && text[s.at+1] == '['
		s.at++
		if double {
			s.at++
		}
		st.path = s.key()
		s.expect(']')
		if double {
			s.expect(']')
		}
		st.to, under = s.at, st.path
		list = append(list, st)
	}
	return list, nil
}

func joined(path []string) string { return strings.Join(path, "\x00") }

type scanner struct {
	text []byte
	at   int
}

// blanks passes over blanks, newlines and comments; within a line only over blanks.
func (s *scanner) blanks(lines bool) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || lines && (c == '\r' || c == '\n'):
			s.at++
		case lines && c == '#':
			if i := bytes.IndexByte(s.text[s.at:], '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.text)
			}
		default:
			return
		}
	}
}

func (s *scanner) expect(c byte) {
	s.blanks(false)
	if s.text[s.at] != c {
		panic(fmt.Sprintf("byte %d is no %q", s.at, c))
	}
	s.at++
}

// pair reads a key with its value, below a path.
func (s *scanner) pair(st *statement, under []string) {
	st.path = append(append([]string{}, under...), s.key()...)
	s.expect('=')
	s.blanks(false)
	st.value.from = s.at
	st.inner = s.value(st.path)
	st.value.to, st.to = s.at, s.at
}

// key reads a dotted key.
func (s *scanner) key() []string {
	var path []string
	for {
		s.blanks(false)
		from := s.at
		switch c := s.text[s.at]; c {
		case '"', '\'':
			s.str()
			path = append(path, unquote(s.text[from:s.at]))
		default:
			for s.at < len(s.text) && !bytes.ContainsRune([]byte(" \t\r\n.=]#"), rune(s.text[s.at])) {
				s.at++
			}
			if s.at == from {
				panic(fmt.Sprintf("no key at byte %d", from))
			}
			path = append(path, string(s.text[from:s.at]))
		}
		s.blanks(false)
		if s.at == len(s.text) || s.text[s.at] != '.' {
			return path
		}
		s.at++
	}
}

// unquote has the parser read a quoted key.
func unquote(quoted []byte) string {
	var v struct{ V string }
	if _, err := toml.Decode("V = "+string(quoted), &v); err != nil {
		panic(err)
	}
	return v.V
}

// str passes over a string of any of the four kinds.
func (s *scanner) str() {
	quote := s.text[s.at : s.at+1]
	long := bytes.Repeat(quote, 3)
	if bytes.HasPrefix(s.text[s.at:], long) {
		for s.at += 3; !bytes.HasPrefix(s.text[s.at:], long); s.at++ {
			if quote[0] == '"' && s.text[s.at] == '\\' {
				s.at++
			}
		}
		s.at += 3
		for range 2 { // the text may end with quotes of its own
			if s.at < len(s.text) && s.text[s.at] == quote[0] {
				s.at++
			}
		}
		return
	}
	for s.at++; s.text[s.at] != quote[0]; s.at++ {
		if quote[0] == '"' && s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

// value passes over a value and returns the pairs of an inline table.
func (s *scanner) value(path []string) (inner []statement) {
	switch s.text[s.at] {
	case '"', '\'':
		s.str()
	case '[':
		s.at++
		for s.blanks(true); s.text[s.at] != ']'; s.blanks(true) {
			if s.text[s.at] == ',' {
				s.at++
				continue
			}
			s.value(nil)
		}
		s.at++
	case '{':
		s.at++
		for s.blanks(true); s.text[s.at] != '}'; s.blanks(true) {
			if s.text[s.at] == ',' {
				inner[len(inner)-1].value.comma = s.at
				s.at++
				continue
			}
			st := statement{from: s.at}
			s.pair(&st, path)
			inner = append(inner, st)
		}
		s.at++
	default:
		for s.at < len(s.text) && !bytes.ContainsRune([]byte("\r\n,]}#"), rune(s.text[s.at])) {
			s.at++
		}
		for s.text[s.at-1] == ' ' || s.text[s.at-1] == '\t' {
			s.at--
		}
	}
	return inner
}
