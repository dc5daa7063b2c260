package repository

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// Verify compares the objects by which two trees differ with their ids: the trees, from the top down to the folders that
// differ, and the blobs of every path that is not the same in both. Git shows an object under whatever id it lies, and
// an agent in the tree can write to the object stores: a reviewer would be shown a good file in place of the bad one
// that is submitted. A blob in a file of its own that has more than limit bytes is not read. It returns the files that have
// more than most bytes on one side, each once, with the size of the larger side, in the order of their paths.
func (r *Repository) Verify(ctx context.Context, from, to string, most, limit int64) (larger []Large, err error) {
	sizes := map[string]int64{}
	err = r.reading(ctx, func(o *objects) (err error) {
		var sides [2]string
		for i, id := range []string{from, to} {
			if sides[i], err = o.treeOf(id); err != nil {
				return err
			}
		}
		all, err := o.difference(sides[0], sides[1])
		if err != nil {
			return err
		}
		var ids, names []string
		paths := map[string][]string{}
		for _, d := range all {
			if d.Mode == ModeTree {
				continue
			}
			if size := r.looseSize(d.ID); size > limit {
				sizes[d.Path] = max(sizes[d.Path], size)
				continue
			}
			if paths[d.ID] == nil {
				ids, names = append(ids, d.ID), append(names, d.Path)
			}
			paths[d.ID] = append(paths[d.ID], d.Path)
		}
		return o.each(ids, names, func(i int, _ string, size int64, _ io.Reader) error {
			for _, path := range paths[ids[i]] {
				if size > most {
					sizes[path] = max(sizes[path], size)
				}
			}
			return nil
		})
	})
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		larger = append(larger, Large{path, sizes[path]})
	}
	return larger, err
}

// A Large is a file of so many bytes.
type Large struct {
	Path string
	Size int64
}

// A side is what one of two trees has at a path and the other has not.
type side struct {
	TreeEntry
	new bool // the second tree has it
}

// A pair is the same folder in two trees.
type pair struct {
	dir string    // "" for the top, else with a slash at its end
	ids [2]string // "" where there is none
}

// difference lists the files and folders that are not the same in two trees, but for links to repositories, where o.links
// does not ask for them, and the tops themselves. It reads the folders that differ.
func (o *objects) difference(from, to string) (all []side, err error) {
	if from == to {
		return nil, nil
	}
	for level := []pair{{"", [2]string{from, to}}}; len(level) > 0; {
		entries, err := o.folders(level)
		if err != nil {
			return nil, err
		}
		var next []pair
		for i, p := range level {
			below := map[string]pair{}
			for s := range entries[i] {
				for name, e := range entries[i][s] {
					if entries[i][1-s][name] == e || e.IsLink() && !o.links {
						continue
					}
					all = append(all, side{TreeEntry{e, p.dir + name}, s == 1})
					if e.Mode == ModeTree {
						q := below[name]
						q.dir, q.ids[s] = p.dir+name+"/", e.ID
						below[name] = q
					}
				}
			}
			next = slices.AppendSeq(next, maps.Values(below))
		}
		level = next
	}
	return all, nil
}

// folders reads what is in both folders of each pair, by name.
func (o *objects) folders(pairs []pair) ([][2]map[string]Entry, error) {
	var ids, names []string
	for _, p := range pairs {
		for _, id := range p.ids {
			if id != "" {
				ids, names = append(ids, id), append(names, "the folder "+p.dir)
			}
		}
	}
	texts := make([][]byte, len(ids))
	err := o.each(ids, names, func(i int, kind string, _ int64, r io.Reader) (err error) {
		if kind != "tree" {
			return fmt.Errorf("%s is a %s", names[i], kind)
		}
		texts[i], err = io.ReadAll(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([][2]map[string]Entry, len(pairs))
	for i, p := range pairs {
		for side, id := range p.ids {
			if id == "" {
				continue
			}
			if all[i][side], err = entriesOf(texts[0], len(id)/2); err != nil {
				return nil, err
			}
			texts = texts[1:]
		}
	}
	return all, nil
}

// entriesOf reads the object of a tree, "mode name\x00id" for each entry; an id has size bytes.
func entriesOf(text []byte, size int) (map[string]Entry, error) {
	entries := map[string]Entry{}
	for len(text) > 0 {
		head, rest, ok := bytes.Cut(text, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < size {
			return nil, fmt.Errorf("cannot read the tree entry %.80q", text)
		}
		entries[name] = Entry{modeAs(mode), hex.EncodeToString(rest[:size])}
		text = rest[size:]
	}
	return entries, nil
}

// treeOf is the tree that an id of a tree, commit or tag stands for, "" for "".
func (o *objects) treeOf(id string) (string, error) {
	for id != "" {
		next := ""
		err := o.each([]string{id}, []string{id}, func(_ int, kind string, _ int64, r io.Reader) error {
			if kind == "commit" || kind == "tag" {
				text, err := io.ReadAll(r)
				_, line, _ := strings.Cut(git.FirstLine(string(text)), " ")
				if next = line; err == nil && !IsID(next) {
					err = fmt.Errorf("the %s %s names no object", kind, id)
				}
				return err
			}
			return nil
		})
		if err != nil || next == "" {
			return id, err
		}
		id = next
	}
	return "", nil
}

// ChangedSinceHead reports whether a path that differs between the trees from and to has other contents in the tree now than
// in the commit that HEAD leads to.
func (r *Repository) ChangedSinceHead(ctx context.Context, now, from, to string) (found bool, err error) {
	err = r.reading(ctx, func(o *objects) error {
		o.links = true
		head, err := o.treeOf(r.HeadCommit(ctx))
		if err != nil {
			return err
		}
		open, err := o.difference(head, now)
		if err != nil || len(open) == 0 {
			return err
		}
		work, err := o.difference(from, to)
		found = slices.ContainsFunc(work, func(w side) bool {
			return w.Mode != ModeTree && slices.ContainsFunc(open, func(s side) bool { return s.Path == w.Path })
		})
		return err
	})
	return found, err
}

// VerifyTrees compares the objects of trees with their ids. It does not look at what they lead to.
func (r *Repository) VerifyTrees(ctx context.Context, ids ...string) error {
	return r.reading(ctx, func(o *objects) error {
		var pairs []pair
		for _, id := range ids {
			pairs = append(pairs, pair{ids: [2]string{id}})
		}
		_, err := o.folders(pairs)
		return err
	})
}
