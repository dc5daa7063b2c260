package branch

import (
	"cmp"
	"context"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
	"github.com/ferrus-go/ferrus/internal/worktree/restore"
)

// clearLeft takes away what this computer has of a branch that another one has removed. Its files stay under refs/ferrus and its folder in the
// archive, as those of a branch that is removed here, both with the name that is returned. The caller holds the branch, which has no machine.
func clearLeft(ctx context.Context, s *engine.Session, on project.Place) (kept string, err error) {
	if rootfs.Exists(on.Work) {
		if err := clearFiles(ctx, s, on); err != nil {
			return "", err
		}
	}
	kept = cmp.Or(keptName(on), lost(s.Engine(), on.Branch))
	if err := retireFiles(ctx, s, on, kept); err != nil {
		return "", err
	}
	return kept, on.SetAside(kept)
}

// clearFiles keeps the files of such a branch and takes them away.
func clearFiles(ctx context.Context, s *engine.Session, on project.Place) error {
	conf, err := s.Engine().Config()
	if err != nil {
		return refusal.Config(err)
	}
	tree, err := worktree.Open(ctx, on.Work, on.Path("git"), worktree.Options{Root: on.Root, Ignore: conf.Gate().Checks.Ignore})
	if err != nil {
		return refusal.Git(err)
	}
	id, err := tree.Snapshot(ctx)
	if err == nil {
		err = tree.SaveRef(ctx, on.Branch+"/left", id)
	}
	if err != nil {
		return refusal.Git(err)
	}
	moved, err := restore.In(tree).Clear(ctx, id, on.Branch+"/edits")
	if err != nil {
		return &refusal.RefusedError{Code: refusal.TreeChanged, Message: restore.WithEdits(err, moved.Edited).Error(), Remedy: "nothing is lost", Person: true}
	}
	return nil
}
