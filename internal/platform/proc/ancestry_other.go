//go:build !linux && !darwin && !windows

package proc

import "os"

// here knows this process and its parent; on these systems nothing more is read.
type here struct{}

func (here) look(pid int) (entry, bool) {
	if pid != os.Getpid() {
		return entry{}, false
	}
	return entry{pid: pid, parent: os.Getppid(), name: "ferrus", args: os.Args}, true
}

func (here) environ(int) []string { return nil }

func (here) folder(int) string { return "" }

func (here) all() []int { return nil }

func (here) replaced(int) bool { return false } // the system does not show which file a process runs
