package worktree

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// Merged is what [Tree.Merge] made of three trees.
type Merged struct {
	// Tree has both changes. Where they conflict it has what git writes into a work tree then: marks of the conflict, or
	// one side's file; the sides are named there by ids that mean nothing.
	Tree      string
	Conflicts []Conflict // by path; nil where git could merge all
	Marks     []string   // with conflicts, the ids that name the sides in the marks; see [Tree.Marked]
}

// A Conflict is a file that git could not merge by itself.
type Conflict struct {
	Path string `json:"path"` // printable, as in [Tree.Changed]
	Kind string `json:"kind"` // git's word: contents, binary, modify/delete, rename/rename, distinct modes, submodule, ...
}

// Merge is git's three-way merge of trees: the changes from base to ours and from base to theirs, without a work tree.
// Renames are followed; a merge driver of the user's runs. Equal trees give equal results, whatever the user's settings
// for conflicts. "" stands for the empty tree. A conflict is no error. What is made is in the private store; see
// [Tree.SaveRef]. The error is [ErrNoGit] without git; it needs git 2.38.
func (t *Tree) Merge(ctx context.Context, base, ours, theirs string) (Merged, error) {
	m, err := t.merge(ctx, base, ours, theirs)
	if err != nil {
		return Merged{}, fmt.Errorf("merge of %.12q and %.12q from %.12q: %w", ours, theirs, base, err)
	}
	return m, nil
}

func (t *Tree) merge(ctx context.Context, base, ours, theirs string) (Merged, error) {
	if !t.Git() {
		return Merged{}, git.ErrNoGit
	}
	if err := git.Needs(ctx, 2, 38, "to merge without a work tree"); err != nil {
		return Merged{}, err
	}
	if err := t.Prepare(ctx); err != nil {
		return Merged{}, err
	}
	trees := []string{base, ours, theirs}
	for i, id := range trees {
		var err error
		if trees[i], err = t.TreeID(id); err != nil {
			return Merged{}, err
		}
	}
	if err := t.VerifyTrees(ctx, trees...); err != nil { // git would commit any id
		return Merged{}, err
	}
	// Only commits have a base. Git finds that of these two by itself; --merge-base would need git 2.40.
	root, err := t.WriteCommit(trees[0])
	if err != nil {
		return Merged{}, err
	}
	var sides [2]string
	for i := range sides {
		if sides[i], err = t.WriteCommit(trees[i+1], root); err != nil {
			return Merged{}, err
		}
	}
	var out bytes.Buffer
	c := t.Command()
	c.Stdout = &out
	c.Config = append(slices.Clone(c.Config), "merge.renameLimit=7000", "diff.algorithm=histogram")
	_, _, err = c.Run(ctx, "merge-tree", "--write-tree", "-z", "--messages", sides[0], sides[1])
	if err != nil && !git.SaidNo(err) { // no: not without conflicts
		return Merged{}, err
	}
	m, err := readMerge(out.String())
	if err == nil && len(m.Conflicts) > 0 {
		m.Marks = sides[:]
	}
	return m, err
}

// Marked returns where a tree still has marks of a conflict that [Tree.Merge] has written, as path:line. marks are those that Merge
// returned; no other line counts, whatever it looks like. No filter and no program of the repository runs.
func (t *Tree) Marked(ctx context.Context, tree string, marks []string) (places []string, err error) {
	if len(marks) == 0 || !t.Git() {
		return nil, nil
	}
	if tree, err = t.TreeID(tree); err != nil {
		return nil, err
	}
	if err := t.VerifyTrees(ctx, tree); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c := t.Command()
	c.Stdout = &out
	// The attribute conflict-marker-size may give a mark any length.
	_, _, err = c.Run(ctx, "grep", "-nazE", "--no-textconv", "--no-color", "-e", "^(<+|>+|[|]+) ("+strings.Join(marks, "|")+")", tree)
	if err != nil && !git.SaidNo(err) { // no: none is there
		return nil, fmt.Errorf("marks of a conflict in %.12q: %w", tree, err)
	}
	for _, hit := range strings.Split("\n"+out.String(), "\n"+tree+":")[1:] { // a path may have a newline
		if fields := strings.SplitN(hit, "\x00", 3); len(fields) == 3 {
			places = append(places, git.Printable(fields[0])+":"+fields[1])
		}
	}
	return places, nil
}

// readMerge reads what git merge-tree -z writes: the tree; "mode id stage\tpath" for each side of each conflict; an
// empty field; and for each message how many paths it is about, those, its kind and its text. The first kind counts.
func readMerge(out string) (Merged, error) {
	m := Merged{}
	fields := git.Split([]byte(out))
	if len(fields) == 0 || !repository.IsID(fields[0]) {
		return m, fmt.Errorf("git merge-tree: cannot read %q", out)
	}
	m.Tree, fields = fields[0], fields[1:]
	kinds := map[string]string{}
	for len(fields) > 0 && fields[0] != "" {
		_, path, _ := strings.Cut(fields[0], "\t")
		kinds[path] = ""
		fields = fields[1:]
	}
	for fields = fields[min(1, len(fields)):]; len(fields) > 0; {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 || len(fields) < n+3 {
			return m, fmt.Errorf("git merge-tree: cannot read %q", fields)
		}
		paths, kind := fields[1:1+n], fields[1+n]
		fields = fields[n+3:]
		if kind, ok := strings.CutPrefix(kind, "CONFLICT ("); ok {
			enter(kinds, paths, strings.TrimSuffix(kind, ")"))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(kinds)) {
		kind := kinds[path]
		if kind == "" {
			kind = "contents"
		}
		m.Conflicts = append(m.Conflicts, Conflict{git.Printable(path), kind})
	}
	return m, nil
}

// enter gives the kind to those of the paths that conflict and have none, to the first if none of them does.
func enter(kinds map[string]string, paths []string, kind string) {
	known := false
	for _, path := range paths {
		has, ok := kinds[path]
		known = known || ok
		if ok && has == "" {
			kinds[path] = kind
		}
	}
	if !known && len(paths) > 0 {
		kinds[paths[0]] = kind
	}
}
