package handover

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// Patch returns the path of the patch of a task's submission as it is to be read, and that of the same for git where it is another file: of
// work with hidden characters, which notices say, a reader gets a patch with marks. It makes a file that is missing: the work may have been
// submitted on another computer. open opens the work tree, which has both trees.
func Patch(ctx context.Context, open func() (*worktree.Tree, error), place project.Place, t state.Task, notices []string) (path, exact string, err error) {
	name := t.Submission.Patch
	path = place.Path(name)
	hidden := slices.ContainsFunc(notices, func(n string) bool { return strings.HasPrefix(n, HiddenTag) })
	there := rootfs.Exists(path)
	if there && !hidden {
		return path, "", nil
	}
	tree, err := open()
	if err == nil && !there {
		err = WritePatch(ctx, tree, place, t.BaseTree, t.Submission.Tree, name)
	}
	if err == nil && hidden {
		exact, name = path, strings.TrimSuffix(name, ".patch")+".marked.patch"
		path = place.Path(name)
		err = writePatch(ctx, tree, place, t.BaseTree, t.Submission.Tree, name, safetext.Mark)
	}
	return path, exact, err
}

// WritePatch writes the patch from one tree to another into a file of a place. The error is a *refusal.RefusedError.
func WritePatch(ctx context.Context, tree *worktree.Tree, place project.Place, from, to, name string) error {
	return writePatch(ctx, tree, place, from, to, name, func(text string) string { return text })
}

func writePatch(ctx context.Context, tree *worktree.Tree, place project.Place, from, to, name string, as func(string) string) error {
	var patch bytes.Buffer
	var hidden Hidden
	if err := tree.Patch(ctx, from, to, io.MultiWriter(&patch, &hidden)); err != nil {
		return refusal.Git(err)
	}
	notices.put([2]string{from, to}, hidden.Notice()) // a submission asks for it next, to follow rules
	if err := place.WriteFile(name, []byte(as(patch.String()))); err != nil {
		return &refusal.RefusedError{Code: refusal.StoreError, Message: "write the patch: " + err.Error(), Remedy: "check whether the disk is full, then try again"}
	}
	return nil
}
