//go:build unix && !linux

package checks

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// contain does nothing: without subreapers a process that leaves its group escapes.
func contain() error { return nil }

func (t tree) sweep() error {
	t.kill() // what a shell that exited by itself has left in its group
	return nil
}

// killLost kills what is left of a helper that was killed: its last command's group.
func killLost(group int, _ string) { tree(group).kill() }
