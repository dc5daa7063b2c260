//go:build unix

package ui

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
)

// inherit gives a screen the end of a pipe that the guard holds open.
func inherit(cmd *exec.Cmd, alive *os.File) { cmd.ExtraFiles = []*os.File{alive} }

// endWithGuard ends the context when the guard has ended, or the terminal is gone, as if it had been told to stop.
func endWithGuard(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	hung := make(chan os.Signal, 1)
	signal.Notify(hung, syscall.SIGHUP)
	const first = 3 // of the files that a process is given beside its streams
	syscall.CloseOnExec(first)
	alive := os.NewFile(first, "guard")
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = alive.Read(make([]byte, 1))
	}()
	go func() {
		select {
		case <-gone:
		case <-hung:
		}
		cancel(&proc.SignalError{Signal: syscall.SIGTERM, Exit: 128 + int(syscall.SIGTERM)})
	}()
	return ctx, func() { cancel(nil) }
}
