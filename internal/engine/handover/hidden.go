package handover

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// HiddenTag begins a notice about hidden characters.
const HiddenTag = "hidden: "

// A Hidden is a writer that a patch of git's is written to. It finds hidden characters (see package safetext) in the lines and in the names
// of files. The zero value is ready.
type Hidden struct {
	files []*hiddenFile
	rest  []byte // of a line that has not ended
	cut   bool   // the line goes on in the next piece
	head  bool   // the lines of a file before its first hunk
	first string // the signs of the sides, "-+", whose next line is the first of the file
}

type hiddenFile struct {
	name   string // the newest
	names  map[string]bool
	tally  safetext.Tally
	header string // the rest of its first line
}

// maxHeld is how much of a line is held until it ends.
const maxHeld = 1 << 20

// Write never fails.
func (h *Hidden) Write(p []byte) (int, error) {
	h.rest = append(h.rest, p...)
	at := 0
	for {
		end := bytes.IndexByte(h.rest[at:], '\n') + 1
		if end == 0 && len(h.rest)-at > maxHeld {
			end = safetext.Whole(h.rest[at:])
		}
		if end == 0 {
			break
		}
		h.line(string(h.rest[at : at+end]))
		at += end
	}
	h.rest = append(h.rest[:0], h.rest[at:]...)
	return len(p), nil
}

// line reads a line of a patch, or the next piece of one. Every line of a hunk begins with a sign, so that no content of a file looks like
// a header.
func (h *Hidden) line(text string) {
	goesOn := h.cut
	h.cut = !strings.HasSuffix(text, "\n")
	header, isFile := strings.CutPrefix(text, "diff --git ")
	if isFile = isFile && !goesOn; isFile || len(h.files) == 0 {
		h.files = append(h.files, &hiddenFile{names: map[string]bool{}, tally: safetext.Tally{}})
	}
	f := h.files[len(h.files)-1]
	switch {
	case goesOn:
		f.tally.Add(text)
	case isFile:
		f.header, h.head = strings.TrimSuffix(header, "\n"), true
	case strings.HasPrefix(text, "@@"):
		h.head, h.first = false, firstOf(text)
		f.tally.Add(text)
	case !h.head:
		f.tally.Add(h.unsigned(text))
	default:
		for _, prefix := range []string{"--- ", "+++ ", "rename from ", "rename to "} {
			if name, ok := strings.CutPrefix(text, prefix); ok {
				f.named(strings.TrimSuffix(name, "\n"), len(prefix) == len("--- "))
			}
		}
	}
}

// firstOf returns the signs of the sides of which a hunk has the first line, by its header: "@@ -1,3 +1,4 @@".
func firstOf(header string) (signs string) {
	fields := strings.Fields(header)
	for _, side := range fields[1:min(3, len(fields))] {
		if from, _, _ := strings.Cut(side, ","); from == "-1" || from == "+1" {
			signs += from[:1]
		}
	}
	return signs
}

// unsigned returns the first line of a file without its sign, so that a byte order mark is at the beginning, and any other line as it is.
func (h *Hidden) unsigned(line string) string {
	sides := line[:1]
	if sides == " " {
		sides = "-+"
	}
	if strings.ContainsAny(h.first, sides) {
		h.first, line = strings.Trim(h.first, sides), line[1:]
	}
	return line
}

// named takes a name of a file as git writes it: with a tab behind it, or quoted, and perhaps below a/ or b/.
func (f *hiddenFile) named(name string, below bool) {
	name = strings.TrimSuffix(name, "\t")
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		name = plain // git writes octal escapes of three digits, as Go does
	}
	if name == "/dev/null" {
		return
	}
	if _, rest, ok := strings.Cut(name, "/"); ok && below {
		name = rest
	}
	f.name, f.names[name] = name, true
}

const (
	maxHiddenFiles = 4
	maxHiddenName  = 80
)

// Notice says in a line which files of the patch have which hidden characters, "" if none has any.
func (h *Hidden) Notice() string {
	if len(h.rest) > 0 {
		h.line(string(h.rest))
		h.rest = nil
	}
	var lines []string
	for _, f := range h.files {
		if len(f.names) == 0 && f.header != "" { // both names are the same
			f.named(f.header[(len(f.header)+1)/2:], true)
		}
		for name := range f.names {
			f.tally.Add(name)
		}
		f.names = nil
		if len(f.tally) > 0 {
			lines = append(lines, fmt.Sprintf("%s has %v", clipName(safetext.Line(f.name)), f.tally))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if more := len(lines) - maxHiddenFiles; more > 0 {
		lines = append(lines[:maxHiddenFiles], fmt.Sprintf("and %d more", more))
	}
	return HiddenTag + "the change has characters that cannot be seen, or that show the text around them as another one. ferrus shows each as a mark such as <U+202E>: " +
		strings.Join(lines, "; ")
}

// clipName keeps both ends of a name.
func clipName(name string) string {
	r := []rune(name)
	if len(r) <= maxHiddenName {
		return name
	}
	return string(r[:maxHiddenName/2]) + "…" + string(r[len(r)-maxHiddenName/2:])
}

// notices are those about pairs of trees.
var notices memo[[2]string, string]

// HiddenIn returns the notice about hidden characters in what leads from one tree to another, "" for none.
func HiddenIn(ctx context.Context, tree *worktree.Tree, from, to string) (string, error) {
	notice, ok := notices.get([2]string{from, to})
	if ok || !tree.Git() {
		return notice, nil
	}
	var h Hidden
	if err := tree.Patch(ctx, from, to, &h); err != nil {
		return "", err
	}
	notice = h.Notice()
	notices.put([2]string{from, to}, notice)
	return notice, nil
}
