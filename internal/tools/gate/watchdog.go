package gate

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

// errStuck is the error of a call that the watchdog gave up. What the call had started may still
// happen.
var errStuck = errors.New("the call did not end in time")

// A Watchdog answers calls that hang, and logs why: all goroutines and the state of the locks. The
// zero value works once Log is set; one serves all calls of a server.
type Watchdog struct {
	Log   *slog.Logger
	Locks func() string // describes the locks that a call may wait for, without waiting; nil for a server without locks
	Spare time.Duration // how long a call may take besides its wait; 45 s when zero

	stuck atomic.Int32 // consecutive calls that were given up
}

// usualSpare bounds the work of a call besides its wait: at most 10 s for STATE.lock; the rest is
// git and the disk.
const usualSpare = 45 * time.Second

// logLimit bounds how long the answer waits for the log: the call may hang on the disk.
const logLimit = time.Second

// Run calls do and returns its result. It returns errStuck after twice the longest time that the
// call may take: Spare, and the duration that do passes to waits before it waits. A call that is
// given up has its context cancelled. A panic of do becomes a protocol error.
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
		if context.Cause(ctx) == errStuck {
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
	w.report(tool, time.Since(began)) // before the call is cancelled, which may release what it hangs on
	cancel(errStuck)
	return nil, errStuck
}

func (w *Watchdog) limit(wait time.Duration) time.Duration {
	if w.Spare > 0 {
		return 2 * (wait + w.Spare)
	}
	return 2 * (wait + usualSpare)
}

// again says how a caller continues after errStuck: whether to call once more, and the remedy. A
// server that gave up three calls in a row does not recover in a fourth.
func (w *Watchdog) again() (again bool, remedy string) {
	if w.stuck.Load() < 3 {
		return true, "call it again: the first call may have succeeded, and ferrus does nothing twice"
	}
	return false, "stop: a person restarts this server; its log in .ferrus/logs names the locks and all goroutines"
}

// report logs the state of the process: a short line that also goes to stderr, and a line with all
// goroutines.
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

// goroutines returns the stacks of all goroutines, at most 8 MiB.
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
