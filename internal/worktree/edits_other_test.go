//go:build !linux && !darwin

package worktree_test

import "github.com/ferrus-go/ferrus/internal/worktree"

func edited(string, *worktree.Tree) func() { return func() {} }
