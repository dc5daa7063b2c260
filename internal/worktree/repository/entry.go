package repository

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// An Entry is what a tree holds at a path; the zero value is nothing.
type Entry struct{ Mode, ID string }

// Modes of entries.
const (
	ModeFile    = "100644"
	ModeExec    = "100755"
	ModeSymlink = "120000"
	ModeLink    = "160000" // a submodule or embedded repository
	ModeTree    = "40000"
)

// modeNone is what git writes where there is nothing.
const modeNone = "000000"

// ModeOf is the mode of an entry for a file or a link.
func ModeOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return ModeSymlink
	case mode&0o100 != 0:
		return ModeExec
	}
	return ModeFile
}

// Exists reports whether there is anything at the path.
func (e Entry) Exists() bool { return e.Mode != "" }

// IsLink reports whether the entry is a submodule or an embedded repository, of which a tree has the commit.
func (e Entry) IsLink() bool { return e.Mode == ModeLink }

// A Delta is a path at which two trees differ.
type Delta struct {
	Path     string
	Old, New Entry
}

// Deltas lists what differs between two trees, by path.
func (r *Repository) Deltas(ctx context.Context, from, to string) ([]Delta, error) {
	out, _, err := r.Command().Run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to, "--")
	if err != nil {
		return nil, err
	}
	// ":oldmode newmode oldid newid status", then the path
	fields := git.Split(out)
	all := make([]Delta, 0, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree: cannot read %q", fields[i])
		}
		d := Delta{Path: fields[i+1]}
		if f[0] != modeNone {
			d.Old = Entry{f[0], f[2]}
		}
		if f[1] != modeNone {
			d.New = Entry{f[1], f[3]}
		}
		all = append(all, d)
	}
	return all, nil
}

// TreeID is id, or that of the empty tree where it is "".
func (r *Repository) TreeID(id string) (string, error) {
	if id == "" {
		return r.ID("tree", nil), nil
	}
	if !IsID(id) {
		return "", fmt.Errorf("%q is not an object id", id)
	}
	return id, nil
}

// IsID reports whether a text is a whole object id; anything else could be an option or a name that moves.
func IsID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && hexadecimal.MatchString(text)
}

var hexadecimal = safetext.NewForm(`^[0-9a-f]*$`, 40, 64)
