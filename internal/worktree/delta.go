package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// An entry is what a tree holds at a path; the zero value is nothing.
type entry struct{ mode, id string }

// Modes of entries.
const (
	modeFile    = "100644"
	modeExec    = "100755"
	modeSymlink = "120000"
	modeLink    = "160000" // a submodule or embedded repository
	modeTree    = "40000"
)

// modeNone is what git writes where there is nothing.
const modeNone = "000000"

// modeOf is the mode of an entry for a file or a link.
func modeOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return modeSymlink
	case mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}

func (e entry) exists() bool { return e.mode != "" }
func (e entry) link() bool   { return e.mode == modeLink }

// A delta is a path at which two trees differ.
type delta struct {
	path     string
	old, new entry
}

// deltas lists what differs between two trees, by path.
func (t *Tree) deltas(ctx context.Context, from, to string) ([]delta, error) {
	out, _, err := t.storing().Run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to, "--")
	if err != nil {
		return nil, err
	}
	// ":oldmode newmode oldid newid status", then the path
	fields := gitpath.Split(out)
	all := make([]delta, 0, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree: cannot read %q", fields[i])
		}
		d := delta{path: fields[i+1]}
		if f[0] != modeNone {
			d.old = entry{f[0], f[2]}
		}
		if f[1] != modeNone {
			d.new = entry{f[1], f[3]}
		}
		all = append(all, d)
	}
	return all, nil
}

// treeID is id, or that of the empty tree where it is "".
func (t *Tree) treeID(id string) (string, error) {
	if id == "" {
		return t.idOf("tree", nil), nil
	}
	if !objectID.MatchString(id) {
		return "", fmt.Errorf("%q is not an object id", id)
	}
	return id, nil
}
