package worktree

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
)

// Head returns the commit that is checked out, "" before the first, and the branch, without refs/heads/, "" on none.
func (t *Tree) Head(ctx context.Context) (commit, branch string, err error) {
	if !t.Git() {
		return "", "", fmt.Errorf("head of %s: %w", t.dir, git.ErrNoGit)
	}
	// An answer of "no" is an error of git's too. One that is none of these cannot be read any more: ask about it.
	ref, _, err := t.user().Run(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && !git.SaidNo(err) {
		return "", "", fmt.Errorf("head of %s: %w", t.dir, err)
	}
	branch = strings.TrimPrefix(strings.TrimSpace(string(ref)), "refs/heads/")
	if commit, err = t.resolve(ctx, "HEAD^{commit}"); err != nil {
		return "", "", fmt.Errorf("head of %s: %w", t.dir, err)
	}
	return commit, branch, nil
}

// resolve is the id of a revision, "" where there is none.
func (t *Tree) resolve(ctx context.Context, rev string) (string, error) {
	out, _, err := t.user().Run(ctx, "rev-parse", "-q", "--verify", rev)
	if git.SaidNo(err) {
		err = nil
	}
	return strings.TrimSpace(string(out)), err
}

// KeepHead makes refs/ferrus/<name> point at the tip of the branch ferrus/<branch>, so that its commits survive
// [Tree.Remove], and returns it. Where there is no such branch, or the HEAD of the main work tree leads to its tip, there
// is nothing to keep: it returns "". [Tree.Kept] gives the tree of the commit. What the name held before is let go, and
// what is kept is on disk, as with [Tree.Keep]. The error is [ErrNoGit] without git.
func (t *Tree) KeepHead(ctx context.Context, branch, name string) (commit string, err error) {
	commit, err = t.keepHead(ctx, branch, name)
	if err != nil {
		return "", fmt.Errorf("keep branch ferrus/%s as %q: %w", branch, name, err)
	}
	return commit, nil
}

func (t *Tree) keepHead(ctx context.Context, branch, name string) (string, error) {
	for _, n := range []string{branch, name} {
		if err := t.ready(ctx, n); err != nil {
			return "", err
		}
	}
	tip, err := t.resolve(ctx, branches+branch)
	if err != nil || tip == "" {
		return "", err
	}
	if lost, err := t.strays(ctx, tip); err != nil || !lost {
		return "", err
	}
	// A user's git commits without a sync of its objects.
	if err := t.sync(t.objects); err != nil {
		return "", err
	}
	k := kept{name: name, commit: tip}
	// Without a verify of the branch: git would write that into the log of the HEAD that is on it.
	if err := t.updateRefs(ctx, k.orders(kept{})); err != nil {
		return "", err
	}
	return tip, t.syncRefs(refs + name)
}

// strays reports whether the HEAD of the main work tree does not lead to the commit.
func (t *Tree) strays(ctx context.Context, commit string) (bool, error) {
	head, err := t.resolve(ctx, "main-worktree/HEAD^{commit}")
	if err != nil || head == "" {
		return true, err
	}
	_, _, err = t.user().Run(ctx, "merge-base", "--is-ancestor", commit, head)
	if git.SaidNo(err) {
		return true, nil
	}
	return false, err
}
