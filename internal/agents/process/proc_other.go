//go:build unix && !linux

package process

import (
	"os"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// sweep asks what is left of the group to end. This process is of the group too, and hears it as nothing new.
func sweep() error {
	proc.Tree(os.Getpid()).Terminate()
	time.Sleep(leaving)
	return nil
}

// farewell ends the whole group, this process with it, when there is nothing left to do.
func farewell() { proc.Tree(os.Getpid()).Kill() }
