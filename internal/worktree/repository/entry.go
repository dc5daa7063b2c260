package repository

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
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

// modeAs is a mode of a tree as git takes it: git of the past wrote other rights, too.
func modeAs(text string) string {
	switch {
	case len(text) != len(ModeFile) || text[:3] != ModeFile[:3]:
		return text
	case text[3]&1 != 0:
		return ModeExec
	}
	return ModeFile
}

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

// Deltas lists what differs between two trees, or those of commits, by path. The trees are compared with their ids.
func (r *Repository) Deltas(ctx context.Context, from, to string) ([]Delta, error) {
	at := map[string]Delta{}
	err := r.reading(ctx, func(o *objects) (err error) {
		o.links = true
		if from, err = o.treeOf(from); err != nil {
			return err
		}
		if to, err = o.treeOf(to); err != nil {
			return err
		}
		all, err := o.difference(from, to)
		for _, s := range all {
			if s.Mode == ModeTree {
				continue
			}
			d := at[s.Path]
			d.Path = s.Path
			if s.new {
				d.New = s.Entry
			} else {
				d.Old = s.Entry
			}
			at[s.Path] = d
		}
		return err
	})
	return slices.SortedFunc(maps.Values(at), func(a, b Delta) int { return strings.Compare(a.Path, b.Path) }), err
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
