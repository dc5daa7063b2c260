package worktree

import (
	"context"
	"fmt"
	"slices"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// MaxShown is the size from which on the content of a file is read by nothing that only shows, in bytes: [Tree.Inspect] does
// not look into such a file, and [Tree.Patch] names it only.
const MaxShown = 32 << 20

// Skipped is a file that [Tree.Inspect] did not read.
type Skipped struct {
	Path    string `json:"path"` // as it is
	Size    int64  `json:"size"`
	Filter  string `json:"filter,omitempty"`  // the git filter that makes its content; "" for a file of more than MaxShown
	Command string `json:"command,omitempty"` // what the filter runs
}

// Inspect is [Tree.Fingerprint] for a command that only shows: it starts no program that git's configuration names, and reads
// no file of more than [MaxShown]. A file for which that would be necessary, because ferrus does not know its content by the stat
// table, counts as it is in the tree like, or not at all if it is not in there; skipped lists those. The id is good for a diff; it
// says nothing about whether two work trees are the same.
func (t *Tree) Inspect(ctx context.Context, like string) (id string, skipped []Skipped, err error) {
	if !t.Git() {
		return "", nil, nil
	}
	in := &inspection{like: like}
	if id, err = t.fingerprint(ctx, in); err != nil {
		return "", nil, fmt.Errorf("look at the files of the work tree: %w", err)
	}
	return id, in.skipped, nil
}

// Why says why the file was not read.
func (s Skipped) Why() string {
	if s.Filter == "" {
		return fmt.Sprintf("it has more than %d MiB", MaxShown>>20)
	}
	return fmt.Sprintf("the git filter %s converts it, which runs %s", git.Printable(s.Filter), git.Printable(s.Command))
}

// Patch is the file as one of a patch for people, with a remark in place of what differs: full is the command that shows that.
func (s Skipped) Patch(full string) string {
	name := s.Path
	if quoted := git.Quoted(name); quoted != `"`+name+`"` {
		name = quoted[1 : len(quoted)-1]
		return fmt.Sprintf("diff --git \"a/%[1]s\" \"b/%[1]s\"\nnot read, and counted as before: %[2]s; to read it: %[3]s\n", name, s.Why(), full)
	}
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnot read, and counted as before: %[2]s; to read it: %[3]s\n", name, s.Why(), full)
}

// SkippedText says which files were not read, a line for each reason, and how a person sees them: by the command full.
func SkippedText(files []Skipped, full string) []string {
	by := map[string][]string{}
	var order []string
	for _, s := range files {
		why := s.Why()
		if by[why] == nil {
			order = append(order, why)
		}
		by[why] = append(by[why], s.Path)
	}
	for i, why := range order {
		order[i] = fmt.Sprintf("not read, and counted as before: %s: %s; to read it: %s", some(by[why]), why, full)
	}
	return order
}

// An inspection is a fingerprint that starts nothing.
type inspection struct {
	like    string
	skipped []Skipped
}

// skip takes out of the files that are to be hashed those that are not, and gives them the entries of the tree like.
func (in *inspection) skip(ctx context.Context, t *Tree, files []*file) ([]*file, error) {
	in.skipped = nil
	filters, err := t.filtered(ctx, files)
	if err != nil {
		return nil, err
	}
	var those, rest []*file
	for _, f := range files {
		filter := filters[f.path]
		if !f.is.Mode.IsRegular() || filter == "" && f.is.Size <= MaxShown {
			rest = append(rest, f)
			continue
		}
		those = append(those, f)
		s := Skipped{Path: f.path, Size: f.is.Size, Filter: filter}
		if filter != "" {
			s.Command = t.FilterCommand(ctx, filter)
		}
		in.skipped = append(in.skipped, s)
	}
	if len(those) == 0 || in.like == "" {
		return rest, nil
	}
	had, err := t.ListVerified(ctx, in.like)
	if err != nil {
		return nil, err
	}
	for _, f := range those {
		if e := had.At[f.path]; e.Exists() && !e.IsLink() {
			f.Entry = e.Entry
		}
	}
	return rest, nil
}

// huge lists the files of the work tree of which a patch between two trees has the name only, because of their size.
func (t *Tree) huge(ctx context.Context, l *listing, ids [2]string) ([]string, error) {
	large := func(f file) bool { return f.is.Size > MaxShown && f.Mode != repository.ModeLink }
	if !slices.ContainsFunc(l.files, large) {
		return nil, nil
	}
	all, err := t.Deltas(ctx, ids[0], ids[1])
	if err != nil {
		return nil, err
	}
	moved := git.Set{}
	for _, d := range all {
		moved.Add(d.Path)
	}
	var paths []string
	for _, f := range l.files {
		if large(f) && moved[f.path] {
			paths = append(paths, f.path)
		}
	}
	return paths, nil
}
