//go:build unix && !linux

package proc

import (
	"os"
	"syscall"
	"time"
)

// Executable is the path of the running program.
func Executable() (string, error) { return os.Executable() }

func bound(group bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: group} }

// Contain does nothing: without subreapers a process that leaves its group escapes.
func Contain() error { return nil }

// Sweep kills what a root that exited by itself has left in its group.
func (t Tree) Sweep() error {
	t.Kill()
	return nil
}

// RunsSince is true: nobody can tell.
func RunsSince(string, time.Time) bool { return true }

func zombie(int) bool { return false }

// Alive reports whether there is a process in the group, be it a zombie.
func (t Tree) Alive() bool { return t > 1 && syscall.Kill(-int(t), 0) != syscall.ESRCH }

// KillMarked kills what is left of a tree whose root was killed: the groups of the session that the root led.
func KillMarked(root int, _ string) {
	for _, group := range session(root) {
		Tree(group).Kill()
	}
}
