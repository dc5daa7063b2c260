package worktree

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// LeftOut lists what c's index has and the patterns given to Open leave out. What else Open leaves out isOurs knows.
func (t *Tree) LeftOut(ctx context.Context, c git.Command) ([]string, error) {
	if len(t.ignore) == 0 {
		return nil, nil
	}
	out, _, err := c.Run(ctx, append([]string{"ls-files", "-z", "-c", "-i"}, excludes(t.exclude)...)...)
	return git.Split(out), err
}

func excludes(patterns []string) []string {
	args := make([]string, len(patterns))
	for i, p := range patterns {
		args[i] = "--exclude=" + p
	}
	return args
}

// IgnoredFiles lists the files that [Options].Ignore leaves out of trees. One that ends in a slash is a repository.
func (t *Tree) IgnoredFiles(ctx context.Context) ([]string, error) {
	if len(t.ignore) == 0 {
		return nil, nil
	}
	out, _, err := t.UserCommand().Run(ctx, append([]string{"ls-files", "-z", "-o", "-c", "-i"}, excludes(t.ignore)...)...)
	return git.Split(out), err
}
