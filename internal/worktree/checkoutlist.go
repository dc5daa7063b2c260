package worktree

import (
	"context"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// A listing of all files of a tree.
type treeListing struct {
	entries []treeEntry
	at      map[string]treeEntry
}

type treeEntry struct {
	entry
	path string
}

func (e treeEntry) content() string  { return e.mode + " " + e.id }
func (e treeEntry) attributes() bool { return path.Base(e.path) == ".gitattributes" }

// sameAttributes reports whether both have the same .gitattributes.
func (l *treeListing) sameAttributes(other *treeListing) bool {
	only := func(l *treeListing) []treeEntry {
		return slices.DeleteFunc(slices.Clone(l.entries), func(e treeEntry) bool { return !e.attributes() })
	}
	return slices.Equal(only(l), only(other))
}

// verifiedListing lists a tree, having computed its id from what is listed: git does not compare an object that it reads
// with its id, and whoever can write to an object store can put another in its place.
func (t *Tree) verifiedListing(ctx context.Context, tree string) (*treeListing, error) {
	if !objectID.MatchString(tree) {
		return nil, fmt.Errorf("%q is not an object id", tree)
	}
	out, _, err := t.storing().Run(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	l := &treeListing{at: map[string]treeEntry{}}
	for _, line := range gitpath.Split(out) { // "mode type id\tpath"
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 || !objectID.MatchString(f[2]) {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", line)
		}
		e := treeEntry{entry{f[0], f[2]}, name}
		l.entries = append(l.entries, e)
		l.at[name] = e
	}
	if got, rest := treeOf(tree, "", l.entries); got != tree || len(rest) > 0 {
		return nil, fmt.Errorf("the object of the tree %.12s is not what its id says: somebody changed an object store; git fsck looks at it", tree)
	}
	return l, nil
}

// treeOf is the id of the tree of those entries, at the beginning of a list in git's order, that lie below prefix, and the
// entries after them. like is an id in the hash to be used.
func treeOf(like, prefix string, entries []treeEntry) (id string, rest []treeEntry) {
	var text []byte
	for len(entries) > 0 {
		below, ok := strings.CutPrefix(entries[0].path, prefix)
		if !ok {
			break
		}
		mode, id := strings.TrimLeft(entries[0].mode, "0"), entries[0].id
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
	return idLike(like, "tree", text), entries
}
