package project

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// checkOwner refuses a place whose .ferrus, or a folder above it up to the root of the work tree, belongs to another user,
// unless git accepts that work tree. The error is a *ForeignError.
func checkOwner(ctx context.Context, p Place) error {
	dirs := []string{p.Dir()}
	if p.Branch != "" {
		dirs = append(dirs, filepath.Join(p.Root, DirName))
	}
	top := p.Root
	for at := p.Root; at != filepath.Dir(at); at = filepath.Dir(at) {
		if rootfs.IsWorkTree(at) {
			top = at
			break
		}
	}
	for at := p.Root; ; at = filepath.Dir(at) {
		dirs = append(dirs, at)
		if at == top {
			break
		}
	}
	for _, dir := range dirs {
		owner, other := OtherOwner(dir)
		if !other {
			continue
		}
		if worktree.Safe(ctx, top) {
			return nil
		}
		return foreign(OwnedByOther, fmt.Sprintf("%s belongs to another user (uid %d)", dir, owner),
			refusal.Say("if you trust that user: git config --global --add safe.directory %s; else work in a clone of your own", top))
	}
	return nil
}
