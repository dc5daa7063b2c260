package git

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Paths are relative to the top level of a work tree, with slashes. They are written and read as git, a shell and a person do.

// A Set is of paths relative to the top level, with slashes.
type Set map[string]bool

// SetOf returns the set of the paths.
func SetOf(names []string) Set {
	s := make(Set, len(names))
	for _, name := range names {
		s.Add(name)
	}
	return s
}

// Add puts a path into the set.
func (s Set) Add(name string) { s[name] = true }

// Sorted returns the paths of a set in their order.
func Sorted(s Set) []string { return slices.Sorted(maps.Keys(s)) }

// Above reports whether s has a folder that name is in.
func (s Set) Above(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s[dir] {
			return true
		}
	}
	return false
}

// Each calls do for all paths, several at a time: syncs that wait together share a write of the disk. It joins the errors.
func Each(names []string, do func(string) error) error {
	const hands = 16
	errs := make([]error, hands)
	var wg sync.WaitGroup
	for h := range errs {
		wg.Go(func() {
			for i := h; i < len(names) && errs[h] == nil; i += hands {
				errs[h] = do(names[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// List is how git reads a list of paths that may hold any byte but NUL, with -z.
func List(paths []string) *strings.Reader {
	return strings.NewReader(strings.Join(paths, "\x00") + "\x00")
}

// Split reads the list of paths, or of other fields, that git writes with -z.
func Split(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// Printable is the path, quoted if it could be taken for something else on a screen or in a list.
func Printable(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || safetext.Hidden(r) }) {
		return path
	}
	return strconv.QuoteToASCII(path)
}

// maxPaths is how many paths a reader is shown.
const maxPaths = 100

// Listed is a list of paths for a reader: the first 100, each [printable], then one line that says how many more.
func Listed(paths []string) []string {
	more := len(paths) - maxPaths
	paths = paths[:min(len(paths), maxPaths)]
	for i, p := range paths {
		paths[i] = Printable(p)
	}
	if more > 0 {
		paths = append(paths, fmt.Sprintf("… and %d more", more))
	}
	return paths
}

// Quoted is how git reads a path, one a line, that may hold a line end.
func Quoted(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// ConfigQuoted is a value, or the name of a subsection, as a configuration file of git has it. There git knows fewer escapes than in
// a path: in the name of a subsection it drops the backslash of all others.
func ConfigQuoted(text string) string { return `"` + configEscape.Replace(text) + `"` }

var configEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// ShellQuoted is one word of a command that a person can paste.
func ShellQuoted(word string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("/._-:@+=,", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if Printable(word) != word { // for a shell with $'...'
		return "$" + "'" + strings.ReplaceAll(strings.Trim(Quoted(word), `"`), `'`, `\'`) + "'"
	}
	return format.ShellWord(word)
}

// EscapeGlob is a path without the meaning that gitignore patterns give some characters.
func EscapeGlob(path string) string { return globEscape.Replace(path) }

var globEscape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
