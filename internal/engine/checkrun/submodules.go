package checkrun

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// submodules are those of the work tree, as they are.
func (r *Runner) submodules(ctx context.Context) (top string, list []confine.Submodule, err error) {
	repo, err := repository.Open(ctx, r.place.Work, r.place.Path("git"), r.place.Root)
	if err != nil || !repo.Git() {
		return "", nil, err
	}
	list, err = confine.Submodules(ctx, repo)
	return repo.Top(), list, err
}
