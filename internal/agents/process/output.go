package process

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// An Output is the file that a command writes. When the command has ended well, its shim moves the
// file into place durably; otherwise it removes the file. Both paths are below one folder of
// ferrus, on one disk.
type Output struct {
	Temp string // where the command writes
	Path string // where the output belongs
	OK   []int  // exit codes, besides 0, with which the command has ended well
}

// finish moves the output of a command that has ended well into place, and removes that of any
// other. It records what the command printed last if there is no output. No process of the command
// is left.
func (o Output) finish(r *Run) {
	dir, temp := rootfs.Split(o.Temp)
	root, err := rootfs.Open(dir)
	if err != nil {
		r.Exit, r.Error = -1, err.Error()
		return
	}
	defer root.Close()
	if r.Signal == "" && r.Error == "" && !r.Cut && !r.Stopped && (r.Exit == 0 || slices.Contains(o.OK, r.Exit)) {
		to, err := filepath.Rel(dir, o.Path)
		if err == nil {
			err = atomicfile.Install(root, temp, filepath.ToSlash(to))
		}
		switch {
		case err == nil:
			return
		case !errors.Is(err, fs.ErrNotExist): // a command that has written nothing fails for that
			r.Exit, r.Error = -1, fmt.Sprintf("move the output into place: %v", rootfs.Cause(err))
		}
	}
	r.Said = lastLines(tailOf(o.Temp) + "\n" + tailOf(r.Log) + "\n" + r.Error)
	_ = root.Remove(temp) // what a killed shim leaves counts for nothing
}

// tailOf returns the last bytes of a file, "" when it cannot be read.
func tailOf(path string) string {
	text, err := rootfs.ReadOwnTail(path, 4*maxSaid)
	if err != nil {
		return ""
	}
	return string(text)
}

// lastLines returns the last lines of a text that are not blank, at most ten, and at most maxSaid
// bytes of them.
func lastLines(text string) string {
	text = safetext.Output(text)
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	text = strings.Join(lines[max(0, len(lines)-10):], "\n")
	if over := len(text) - maxSaid; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}
