package project

import (
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// An Index is a file in .ferrus that says again, in a form that is read at once, what many files say: a line for each of them. It may be
// deleted: it is made again.
type Index struct {
	home    *rootfs.Root
	name    string
	known   map[string]indexed
	lines   []string
	changed bool
}

// An indexed file has a line: its sign, its name and what is known of it, with tabs between them.
type indexed struct{ sign, text, line string }

// mostIndex bounds an index, in bytes.
const mostIndex = 1 << 30

// OpenIndex reads the index of a name. What is no line of one is left out, and made again.
func OpenIndex(home *rootfs.Root, name string) *Index {
	x := &Index{home: home, name: name, known: map[string]indexed{}}
	text, _ := home.ReadFile(name, mostIndex)
	for line := range strings.Lines(string(text)) {
		sign, rest, _ := strings.Cut(line, "\t")
		of, known, ok := strings.Cut(rest, "\t")
		if known, whole := strings.CutSuffix(known, "\n"); ok && whole {
			x.known[of] = indexed{sign, known, line}
		} else {
			x.changed = true
		}
	}
	return x
}

// Use calls use with what the index knows of a file, whose sign changes with its content. read says it of a file that the index does not know, or
// knows with another sign or in a form that use refuses; line breaks in it become spaces. The error is that of use about what read says. A nil
// index knows nothing.
func (x *Index) Use(file, sign string, read func() string, use func(text string) error) error {
	if x == nil {
		return use(read())
	}
	is, ok := x.known[file]
	if !ok || is.sign != sign || use(is.text) != nil {
		is = indexed{sign: sign, text: oneLine.Replace(read())}
		is.line, x.changed = sign+"\t"+file+"\t"+is.text+"\n", true
		if err := use(is.text); err != nil {
			return err
		}
	}
	if !strings.ContainsAny(file, "\t\n") { // it would be no line
		x.lines = append(x.lines, is.line)
	}
	return nil
}

var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

// Save writes the index with the files that were asked for, if it is another one than before.
func (x *Index) Save() {
	if x != nil && (x.changed || len(x.lines) != len(x.known)) {
		_ = atomicfile.Replace(x.home, x.name, []byte(strings.Join(x.lines, "")), 0o600) // an agent in a sandbox may look, and not write
	}
}
