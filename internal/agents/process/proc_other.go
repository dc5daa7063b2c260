//go:build unix && !linux

package process

import (
	"os"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// sweep asks the remaining processes of the group to end. This process is in the group, too, and
// ignores the repeated signal.
func sweep() error {
	proc.Tree(os.Getpid()).Terminate()
	time.Sleep(leaving)
	return nil
}

// farewell kills the whole group, including this process, when nothing is left to do.
func farewell() { proc.Tree(os.Getpid()).Kill() }
