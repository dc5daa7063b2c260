package process

import (
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// sweep ends what is left below this process, after a moment in which it may end by itself.
func sweep() error {
	for until := time.Now().Add(leaving); proc.Children() && time.Now().Before(until); {
		time.Sleep(2 * time.Millisecond)
	}
	return proc.Tree(0).Sweep()
}

// farewell has nothing to do: sweep has ended them all.
func farewell() {}
