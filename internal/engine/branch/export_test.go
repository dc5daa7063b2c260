package branch

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
)

// What only the tests of the package see.

func KeptName(on project.Place) string { return keptName(on) }

func (c *ConflictError) Trees() (tree, ours string) { return c.tree, c.ours }

func Unclosing(text string) string { return unclosing(text) }

// LayMerged puts what git makes of both sides into the branch's work tree, as a merge that is killed then does.
func LayMerged(ctx context.Context, s, from *engine.Session) error {
	m, err := look(ctx, s, from, byPerson(from.Engine().Place().Branch))
	if err != nil {
		return err
	}
	got, err := m.into.Merge(ctx, m.was.Task.BaseTree, m.ours, m.theirs)
	if err != nil {
		return err
	}
	return m.writeTree(ctx, got.Tree)
}
