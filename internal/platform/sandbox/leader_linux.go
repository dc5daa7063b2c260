package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Leader returns the process that a signal must reach to reach the command: the one that was started with a line of [Command] for a
// mechanism, or, while it is bubblewrap, the child of its child. Bubblewrap itself would end at once and kill the command.
func Leader(m Mechanism, pid int) int {
	if m != Bwrap {
		return pid
	}
	at := pid
	for range 2 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", at, at))
		first, _, _ := strings.Cut(string(text), " ")
		child, bad := strconv.Atoi(first)
		if err != nil || bad != nil {
			return pid
		}
		at = child
	}
	return at
}
