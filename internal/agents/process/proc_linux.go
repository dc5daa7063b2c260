package process

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// sweep ends the remaining processes below this one, after a moment in which they may end by
// themselves.
func sweep() error {
	for until := time.Now().Add(leaving); proc.Children() && time.Now().Before(until); {
		time.Sleep(2 * time.Millisecond)
	}
	return proc.Tree(0).Sweep()
}

// farewell does nothing: sweep has ended all processes.
func farewell() {}
