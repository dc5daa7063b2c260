package worktree

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/git"
	"github.com/ferrus-go/ferrus/internal/worktree/gitpath"
)

// never lists what c's index has and the patterns given to Open leave out. What else Open leaves out isOurs knows.
func (t *Tree) never(ctx context.Context, c git.Command) ([]string, error) {
	if len(t.ignore) == 0 {
		return nil, nil
	}
	out, _, err := c.Run(ctx, append([]string{"ls-files", "-z", "-c", "-i"}, excludes(t.exclude)...)...)
	return gitpath.Split(out), err
}

func excludes(patterns []string) []string {
	args := make([]string, len(patterns))
	for i, p := range patterns {
		args[i] = "--exclude=" + p
	}
	return args
}

// ignored lists which of the paths the rules ignore that c finds in its work tree, with no regard to what is tracked.
// index is a file that is not there.
func (t *Tree) ignored(ctx context.Context, c git.Command, index string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	// As entries of an index, for git then answers for each path alike, whether there is such a file or not, and whatever
	// leads to it.
	c.Env = append(slices.Clone(c.Env), "GIT_INDEX_FILE="+index)
	var entries strings.Builder
	some := t.ID("blob", nil)
	for _, name := range names {
		fmt.Fprintf(&entries, "100644 %s\t%s\x00", some, name)
	}
	c.Stdin = strings.NewReader(entries.String())
	if _, _, err := c.Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	defer os.Remove(index)
	c.Stdin = nil
	out, _, err := c.Run(ctx, "ls-files", "-z", "-c", "-i", "--exclude-standard")
	return gitpath.Split(out), err
}
