package remote

import (
	"context"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// Named opens a remote, named as git remote lists it, to push branches to it. It connects to nothing. The rules are those of [Options.Remote].
// The error wraps [ErrNoRemote], or is [git.ErrNoGit].
func Named(ctx context.Context, repo *repository.Repository, name string) (r *Remote, err error) {
	if !repo.Git() {
		return nil, git.ErrNoGit
	}
	r = &Remote{repo: repo, timeout: usualTimeout}
	if r.at, err = findAddress(ctx, repo, name); err != nil {
		return nil, err
	}
	return r, repo.PrepareRemote(ctx)
}

// PushAddress is where branches are pushed, without user names and passwords.
func (r *Remote) PushAddress() string { return redact(r.at.push) }

// Tip returns the commit that a branch of the remote has, "" if there is no such branch. The error wraps [ErrUnreachable] or [ErrAccess].
func (r *Remote) Tip(ctx context.Context, branch string) (commit string, err error) {
	ref := "refs/heads/" + branch
	if err := repository.CheckName(branch); err != nil {
		return "", err
	}
	out, _, err := r.run(ctx, nil, "ls-remote", "--refs", "--", r.at.push, ref)
	for line := range strings.Lines(out) {
		if id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); err == nil && name == ref {
			return id, checkID(id)
		}
	}
	return "", err
}

// PushBranch makes a branch of the remote have a commit, if it has the commit from, "" for no branch. Whatever else somebody has pushed there
// stays. As with [Remote.Push] no hook of the repository runs. The error is a [*RefusedError], or wraps [ErrUnreachable] or [ErrAccess].
func (r *Remote) PushBranch(ctx context.Context, branch, from, to string) error {
	if err := repository.CheckName(branch); err != nil {
		return err
	}
	refused, err := r.push(ctx, false, change{"refs/heads/" + branch, from, to})
	if err == nil && len(refused) > 0 {
		err = &refused[0].RefusedError
	}
	return err
}
