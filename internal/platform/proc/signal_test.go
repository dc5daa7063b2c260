//go:build unix

package proc

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
)

// TestASignalIsAwaitedBehindAChildThatItEnded: ctrl-C reaches a child and this process, in any order.
func TestASignalIsAwaitedBehindAChildThatItEnded(t *testing.T) {
	ended := exec.Command("/bin/sh", "-c", "kill -INT $$").Run()
	failed := exec.Command("/bin/sh", "-c", "exit 3").Run()
	sent := &SignalError{syscall.SIGINT, 130}
	for _, c := range []struct {
		name string
		err  error
		late bool // the signal of this process comes after the error
		want *SignalError
	}{
		{"a child by ctrl-C, the signal later", ended, true, sent},
		{"a child by ctrl-C, no signal", ended, false, nil},
		{"a child that failed", failed, true, nil},
		{"another error", errors.New("no space"), true, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			if c.late {
				go func() {
					synctest.Wait() // until somebody waits for it, or nobody does
					cancel(sent)
				}()
			}
			if got := SignalBehind(ctx, c.err); got != c.want {
				t.Errorf("%s: %v, not %v", c.name, got, c.want)
			}
			cancel(nil)
		})
	}
}
