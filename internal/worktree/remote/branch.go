package remote

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// FetchBranch brings a branch of a remote into the repository, as git fetch does: its commit with all that the repository lacks of it, and
// refs/remotes/<remote>/<branch>. It returns the commit. The remote is named as git remote lists it; it may stand for a path on this machine,
// where git only reads. As with [Remote.Fetch] nothing that the repository names runs.
//
// The error wraps [ErrNoRemote], [ErrNoBranch], [ErrUnreachable] or [ErrAccess].
func FetchBranch(ctx context.Context, repo *repository.Repository, remote, branch string) (commit string, err error) {
	ref := remote + "/" + branch
	if err := repo.Ready(ctx, ref); err != nil {
		return "", err
	}
	r := &Remote{repo: repo, timeout: usualTimeout}
	if r.at, err = findAddress(ctx, repo, remote); err != nil {
		return "", err
	}
	r.at.protocols = withPaths
	if !strings.Contains(r.at.fetch, ":") && !filepath.IsAbs(r.at.fetch) {
		r.at.fetch = filepath.Join(repo.Top(), r.at.fetch)
	}
	if err := repo.PrepareRemote(ctx); err != nil {
		return "", err
	}
	out, _, err := r.run(ctx, nil, "ls-remote", "--refs", "--", r.at.fetch, "refs/heads/"+branch)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name == "refs/heads/"+branch {
			commit = id
		}
	}
	if commit == "" {
		return "", fmt.Errorf("%w %s", ErrNoBranch, branch)
	}
	if err := checkID(commit); err != nil {
		return "", err
	}
	if err := r.fetch(ctx, commit, ""); err != nil {
		return "", err
	}
	if err := repo.SyncFetched(); err != nil {
		return "", err
	}
	return commit, repo.TakeBranch(ctx, ref, commit)
}
