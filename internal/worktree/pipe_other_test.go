//go:build !unix

package worktree_test

import "testing"

func pipe(t *testing.T, dir, name string) { t.Skip("no named pipes") }
