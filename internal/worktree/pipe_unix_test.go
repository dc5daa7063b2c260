//go:build unix

package worktree_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

func pipe(t *testing.T, dir, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
		t.Skip(err)
	}
}
