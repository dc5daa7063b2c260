//go:build unix

package worktreetest

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Pipe makes a FIFO.
func Pipe(t *testing.T, dir, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
		t.Skip(err)
	}
}
