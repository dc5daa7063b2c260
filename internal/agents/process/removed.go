package process

import (
	"context"
	"os"
	"time"
)

// lookAtSlot is how often a shim looks whether its slot is still there, and lookAtFence whether another computer may continue.
const (
	lookAtSlot  = time.Second
	lookAtFence = time.Second / 4
)

// removed returns a channel that is closed when the file of the slot is gone or another one is in its place: the folder of
// the machine was removed, and nobody who looks for the agent can find it any more. It looks once in every, until ctx ends.
func (s Slot) removed(ctx context.Context, every time.Duration) <-chan struct{} {
	gone := make(chan struct{})
	was, err := os.Lstat(string(s))
	if err != nil {
		close(gone)
		return gone
	}
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if is, err := os.Lstat(string(s)); err == nil && os.SameFile(was, is) || err != nil && !os.IsNotExist(err) {
					continue
				}
				close(gone)
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return gone
}
