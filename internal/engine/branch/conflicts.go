package branch

import (
	"context"
	"strings"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// Conflicts returns the paths in which the approved work of the branch of b conflicts with the project's files as they are now.
// It changes nothing and runs no checks: a merge can still be refused for those, and for files that worktree.Tree.Inspect skips.
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
	ours, _, err := into.Inspect(ctx, there.Task.BaseTree)
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

// unresolved refuses work in which marks of a conflict are left that ferrus has written.
func (m *merging) unresolved(ctx context.Context) error {
	places, err := m.from.Engine().Marked(ctx, m.was, m.theirs)
	if err != nil || places == "" {
		return err
	}
	name := m.from.Engine().Place().Branch
	remedy := refusal.Say(`ferrus reopen --branch %s -m "resolve the conflicts"`, name)
	if !m.judged {
		remedy = "reject it, so that the delegate resolves them"
	}
	return &refusal.RefusedError{Code: refusal.Conflict, Message: "marks of a conflict are left in " + name + ": " + places,
		Person: m.judged, Remedy: remedy}
}

func (m *merging) clash(got worktree.Merged, why string) *ConflictError {
	name := m.from.Engine().Place().Branch
	return &ConflictError{RefusedError: refusal.RefusedError{Code: refusal.Conflict, Message: name + " " + why + ". Nothing was changed", Person: true,
		Remedy: refusal.Say("ferrus merge %s --resolve gives its executor both, to be checked and reviewed again", name)},
		Conflicts: got.Conflicts, tree: got.Tree, marks: got.Marks, ours: m.ours}
}

func conflicts(list []worktree.Conflict) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, c.Path+" ("+c.Kind+")")
	}
	return format.OneLine(strings.Join(parts, ", "), 600)
}
