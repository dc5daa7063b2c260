package repository

import (
	"context"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// A Listing is all files of a tree, in git's order.
type Listing struct {
	Entries []TreeEntry
	At      map[string]TreeEntry
}

// A TreeEntry is an Entry with its path.
type TreeEntry struct {
	Entry
	Path string
}

// Content names the content in one word for [Listing]s of the same hash: the mode and the id.
func (e TreeEntry) Content() string { return e.Mode + " " + e.ID }

// IsAttributes reports whether the file is a .gitattributes.
func (e TreeEntry) IsAttributes() bool { return path.Base(e.Path) == ".gitattributes" }

// SameAttributes reports whether both have the same .gitattributes.
func (l *Listing) SameAttributes(other *Listing) bool {
	only := func(l *Listing) []TreeEntry {
		return slices.DeleteFunc(slices.Clone(l.Entries), func(e TreeEntry) bool { return !e.IsAttributes() })
	}
	return slices.Equal(only(l), only(other))
}

// ListVerified lists a tree, having computed its id from what is listed: git does not compare an object that it reads
// with its id, and a program that can write to an object store can put another in its place.
func (r *Repository) ListVerified(ctx context.Context, tree string) (*Listing, error) {
	if !IsID(tree) {
		return nil, fmt.Errorf("%q is not an object id", tree)
	}
	out, _, err := r.Command().Run(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	l := &Listing{At: map[string]TreeEntry{}}
	for _, line := range git.Split(out) { // "mode type id\tpath"
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 || !IsID(f[2]) {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", line)
		}
		e := TreeEntry{Entry{f[0], f[2]}, name}
		l.Entries = append(l.Entries, e)
		l.At[name] = e
	}
	if got, rest := treeOf(tree, "", l.Entries); got != tree || len(rest) > 0 {
		return nil, fmt.Errorf("the object of the tree %.12s is not what its id says: somebody changed an object store; git fsck looks at it", tree)
	}
	return l, nil
}

// treeOf is the id of the tree of those entries, at the beginning of a list in git's order, that lie below prefix, and the
// entries after them. like is an id in the hash to be used.
func treeOf(like, prefix string, entries []TreeEntry) (id string, rest []TreeEntry) {
	var text []byte
	for len(entries) > 0 {
		below, ok := strings.CutPrefix(entries[0].Path, prefix)
		if !ok {
			break
		}
		mode, id := strings.TrimLeft(entries[0].Mode, "0"), entries[0].ID
		name, _, folder := strings.Cut(below, "/")
		if folder {
			mode = "40000"
			id, entries = treeOf(like, prefix+name+"/", entries)
		} else {
			entries = entries[1:]
		}
		raw, _ := hex.DecodeString(id) // an id, as verifiedListing has seen
		text = append(text, mode+" "+name+"\x00"...)
		text = append(text, raw...)
	}
	return IDLike(like, "tree", text), entries
}
