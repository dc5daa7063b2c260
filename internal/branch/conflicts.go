package branch

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
)

// Conflicts returns the paths in which the approved work of the branch of b conflicts with the project's files as they are now.
// It changes nothing and runs no checks: a merge can still be refused for those.
func Conflicts(ctx context.Context, b *engine.Engine) ([]string, error) {
	e, err := engine.Open(project.At(b.Place().Root, ""), engine.Options{Look: true})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	here, err := e.View()
	if err != nil {
		return nil, err
	}
	there, err := b.View()
	if err != nil {
		return nil, err
	}
	into, err := e.Tree(ctx, here)
	if err != nil {
		return nil, err
	}
	ours, err := into.Fingerprint(ctx)
	if err != nil {
		return nil, refusal.Git(err)
	}
	got, err := into.Merge(ctx, there.Task.BaseTree, ours, there.Task.Submission.Tree)
	if err != nil {
		return nil, refusal.Git(err)
	}
	paths := make([]string, len(got.Conflicts))
	for i, c := range got.Conflicts {
		paths[i] = c.Path
	}
	return paths, nil
}
