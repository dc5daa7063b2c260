//go:build !unix

package worktreetest

import "testing"

// Pipe skips the test.
func Pipe(t *testing.T, dir, name string) { t.Skip("no named pipes") }
