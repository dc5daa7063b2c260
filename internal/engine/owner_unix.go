//go:build unix

package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/worktree"
)

// user is whose state is believed; a test looks as another.
var user = os.Geteuid

// checkOwner refuses a place whose .ferrus, or a folder above it up to the root of the work tree, belongs to another user,
// unless git accepts that work tree. The error is a *ForeignError.
func checkOwner(ctx context.Context, p Place) error {
	dirs := []string{p.Dir()}
	if p.Branch != "" {
		dirs = append(dirs, filepath.Join(p.Root, home))
	}
	top := p.Root
	for at := p.Root; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
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
		owner, other := stranger(dir)
		if !other {
			continue
		}
		if worktree.Safe(ctx, top) {
			return nil
		}
		return foreign(OwnedByOther, fmt.Sprintf("%s belongs to another user (uid %d)", dir, owner),
			"if you trust that user: git config --global --add safe.directory "+top+"; else work in a clone of your own")
	}
	return nil
}

// stranger returns the owner of a folder, and whether that is another user. As in git, whoever called sudo is none to root.
func stranger(dir string) (owner int, other bool) {
	info, err := os.Lstat(dir)
	if err != nil {
		return 0, false // it is missing, or its absence is told elsewhere
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	owner = int(sys.Uid)
	if owner == user() {
		return owner, false
	}
	if sudo, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && user() == 0 && sudo == owner {
		return owner, false
	}
	return owner, true
}
