package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrStuck is the error of a call that the watchdog has given up. What the call had begun may still happen.
var ErrStuck = errors.New("the call did not end in time")

// A Watchdog answers calls that do not end, and logs why: all goroutines and the state of the locks. The zero value works
// once Log is set; one serves all calls of a server.
type Watchdog struct {
	Log   *slog.Logger
	Locks func() string // describes the locks that a call may wait for, and waits for none; nil for a server without any
	Spare time.Duration // how long a call may take beside its wait; 45 s when zero

	stuck atomic.Int32 // calls in a row that were given up
}

// usualSpare bounds what a call does beside its wait: STATE.lock is waited for 10 s at most; the rest is git and the disk.
const usualSpare = 45 * time.Second

// logLimit bounds how long the answer waits for the log: the disk may be what the call is stuck on.
const logLimit = time.Second

// Run calls do and returns what it returns, or ErrStuck after twice the longest time that the call may take: Spare, and what it
// tells waits before it waits. Its context ends when it is given up. A panic of do is a protocol error.
func (w *Watchdog) Run(ctx context.Context, tool string,
	do func(ctx context.Context, waits func(time.Duration)) (*mcp.CallToolResult, error)) (*mcp.CallToolResult, error) {
	type outcome struct {
		res *mcp.CallToolResult
		err error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began, limit := time.Now(), time.NewTimer(w.limit(0))
	defer limit.Stop()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		bug := Safely(w.Log, tool, func() error {
			o.res, o.err = do(ctx, func(wait time.Duration) { limit.Reset(w.limit(wait)) })
			return nil
		})
		if bug != nil {
			o.err = bugError()
		}
		if context.Cause(ctx) == ErrStuck {
			w.Log.Warn("a call that was given up has ended", "tool", tool, "took", time.Since(began))
		}
		done <- o
	}()
	select {
	case o := <-done:
		w.stuck.Store(0)
		return o.res, o.err
	case <-limit.C:
	}
	w.stuck.Add(1)
	w.report(tool, time.Since(began)) // before the call is cancelled: that may move what it is stuck on
	cancel(ErrStuck)
	return nil, ErrStuck
}

func (w *Watchdog) limit(wait time.Duration) time.Duration {
	if w.Spare > 0 {
		return 2 * (wait + w.Spare)
	}
	return 2 * (wait + usualSpare)
}

// Again says how a caller goes on after ErrStuck: whether it should call once more, and the remedy. A server in which three
// calls in a row were given up does not recover by a fourth.
func (w *Watchdog) Again() (again bool, remedy string) {
	if w.stuck.Load() < 3 {
		return true, "call it again: what it had begun may have happened, and is not done twice"
	}
	return false, "stop: a person ends this server and starts it again; its log in .ferrus/logs names the locks and all goroutines"
}

// report logs the state of the process: in one short line that goes to stderr too, and one with all goroutines.
func (w *Watchdog) report(tool string, took time.Duration) {
	stacks, logged := goroutines(), make(chan struct{})
	go func() {
		defer close(logged)
		locks := "none"
		if w.Locks != nil {
			locks = w.Locks()
		}
		w.Log.Error("a call does not end", "tool", tool, "took", took, "locks", locks)
		w.Log.Info("goroutines", "tool", tool, "stacks", stacks)
	}()
	select {
	case <-logged:
	case <-time.After(logLimit):
	}
}

// goroutines are the stacks of all goroutines, at most 8 MiB.
func goroutines() string {
	for size := 64 << 10; ; size *= 2 {
		buf := make([]byte, size)
		n := runtime.Stack(buf, true)
		switch {
		case n < size:
			return string(buf[:n])
		case size >= 8<<20:
			return fmt.Sprintf("%s\n... more than %d bytes", buf, size)
		}
	}
}
