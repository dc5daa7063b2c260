package worktree

import (
	"context"
	"io"
	"strconv"
	"strings"
)

// A Size is how much two trees differ.
type Size struct {
	Files   int `json:"files"`
	Added   int `json:"added"`   // lines, also of a binary file, but for files that are too large for that
	Deleted int `json:"deleted"` // lines
}

// Size is how much two trees, as in [Tree.Changed], differ: the figures in the last line of [Tree.Diffstat], by which a
// file that has moved is one file. It is zero without git.
func (t *Tree) Size(ctx context.Context, from, to string) (Size, error) {
	var s Size
	if !t.Git() || from == to {
		return s, nil
	}
	var out *strings.Builder
	if err := t.figures(ctx, from, to, func() io.Writer {
		out = &strings.Builder{}
		return out
	}, "--numstat"); err != nil {
		return s, err
	}
	// "added\tdeleted\tpath", with a dash for each of a binary file; git quotes a path that has a newline
	for line := range strings.Lines(out.String()) {
		added, rest, _ := strings.Cut(line, "\t")
		deleted, _, _ := strings.Cut(rest, "\t")
		s.Files++
		s.Added += lines(added)
		s.Deleted += lines(deleted)
	}
	return s, nil
}

// lines reads one of git's figures: what is none counts nothing.
func lines(figure string) int {
	n, _ := strconv.Atoi(figure)
	return n
}
