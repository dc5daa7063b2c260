package repository

import (
	"context"
	"fmt"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// Head returns the commit that is checked out, "" before the first, and the branch, without refs/heads/, "" on none.
func (r *Repository) Head(ctx context.Context) (commit, branch string, err error) {
	if !r.Git() {
		return "", "", fmt.Errorf("head of %s: %w", r.dir, git.ErrNoGit)
	}
	// An answer of "no" is an error of git's too. One that is none of these cannot be read any more: ask about it.
	ref, _, err := r.UserCommand().Run(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && !git.SaidNo(err) {
		return "", "", fmt.Errorf("head of %s: %w", r.dir, err)
	}
	branch = strings.TrimPrefix(strings.TrimSpace(string(ref)), "refs/heads/")
	if commit, err = r.resolve(ctx, "HEAD^{commit}"); err != nil {
		return "", "", fmt.Errorf("head of %s: %w", r.dir, err)
	}
	return commit, branch, nil
}

// resolve is the id of a revision, "" where there is none.
func (r *Repository) resolve(ctx context.Context, rev string) (string, error) {
	out, _, err := r.UserCommand().Run(ctx, "rev-parse", "-q", "--verify", rev)
	if git.SaidNo(err) {
		err = nil
	}
	return strings.TrimSpace(string(out)), err
}

// Commit returns the id of the commit that a person's word names, such as a branch, a remote branch, a tag or a part of an id, and that of its
// tree. Both are "" where there is none. A word that git could take for an option names none.
func (r *Repository) Commit(ctx context.Context, rev string) (commit, tree string, err error) {
	if !r.Git() {
		return "", "", git.ErrNoGit
	}
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", "", nil
	}
	if commit, err = r.resolve(ctx, rev+"^{commit}"); err != nil || commit == "" {
		return "", "", err
	}
	tree, err = r.resolve(ctx, commit+"^{tree}")
	return commit, tree, err
}

// KeepHead makes refs/ferrus/<name> point at the tip of the branch ferrus/<branch>, so that its commits survive
// [Repository.Remove], and returns it. Where there is no such branch, or the HEAD of the main work tree leads to its tip, there
// is nothing to keep: it returns "". [Repository.ReadRef] gives the tree of the commit. What the name held before is let go, and
// what is saved is on disk, as with [Repository.SaveRef]. The error is [git.ErrNoGit] without git.
func (r *Repository) KeepHead(ctx context.Context, branch, name string) (commit string, err error) {
	commit, err = r.keepHead(ctx, branch, name)
	if err != nil {
		return "", fmt.Errorf("keep branch ferrus/%s as %q: %w", branch, name, err)
	}
	return commit, nil
}

func (r *Repository) keepHead(ctx context.Context, branch, name string) (string, error) {
	for _, n := range []string{branch, name} {
		if err := r.Ready(ctx, n); err != nil {
			return "", err
		}
	}
	tip, err := r.resolve(ctx, branches+branch)
	if err != nil || tip == "" {
		return "", err
	}
	if lost, err := r.strays(ctx, tip); err != nil || !lost {
		return "", err
	}
	// A user's git commits without a sync of its objects.
	if err := r.sync(r.objects); err != nil {
		return "", err
	}
	k := kept{name: name, commit: tip}
	// Without a verify of the branch: git would write that into the log of the HEAD that is on it.
	if err := r.updateRefs(ctx, k.orders(kept{})); err != nil {
		return "", err
	}
	return tip, r.syncRefs(RefPrefix + name)
}

// strays reports whether the HEAD of the main work tree does not lead to the commit.
func (r *Repository) strays(ctx context.Context, commit string) (bool, error) {
	head, err := r.resolve(ctx, "main-worktree/HEAD^{commit}")
	if err != nil || head == "" {
		return true, err
	}
	_, _, err = r.UserCommand().Run(ctx, "merge-base", "--is-ancestor", commit, head)
	if git.SaidNo(err) {
		return true, nil
	}
	return false, err
}
