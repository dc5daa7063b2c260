package worktree

import (
	"context"
	"fmt"
)

// Save is [Tree.Fingerprint] and [Tree.SaveRef] in one: it keeps the tree that the work tree holds now under that name,
// and returns its id. When it returns, the tree is on disk and survives every git gc until it is forgotten.
func (t *Tree) Save(ctx context.Context, name string) (string, error) {
	tree, err := t.save(ctx, name)
	if err != nil {
		return "", fmt.Errorf("save of %s as %q: %w", t.Top(), name, err)
	}
	return tree, nil
}

func (t *Tree) save(ctx context.Context, name string) (string, error) {
	if err := t.Ready(ctx, name); err != nil {
		return "", err
	}
	tree, err := t.Fingerprint(ctx)
	if err != nil {
		return "", err
	}
	if err = t.SaveTree(ctx, name, tree); err == nil || ctx.Err() != nil {
		return tree, err
	}
	// The private index may believe in files that git has deleted since. The user's does not: what it names, git leaves.
	if tree, err = t.writeTree(ctx, true, nil); err != nil {
		return "", err
	}
	return tree, t.SaveTree(ctx, name, tree)
}
