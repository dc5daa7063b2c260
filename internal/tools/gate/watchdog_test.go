package gate

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestACallIsGivenUpAfterTwiceItsLongestTime, which is longer for one that waits, and its context ends.
func TestACallIsGivenUpAfterTwiceItsLongestTime(t *testing.T) {
	for _, c := range []struct {
		waits, takes time.Duration
		stuck        bool
	}{
		{0, 89 * time.Second, false},
		{0, 91 * time.Second, true},
		{time.Second, 91 * time.Second, false},
		{time.Second, 93 * time.Second, true},
		{time.Hour, 2 * time.Hour, false},
		{time.Hour, 3 * time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &Watchdog{Log: slog.New(slog.DiscardHandler)}
			want := &mcp.CallToolResult{}
			res, err := w.Run(t.Context(), "tool", func(ctx context.Context, waits func(time.Duration)) (*mcp.CallToolResult, error) {
				if c.waits > 0 {
					waits(c.waits)
				}
				select {
				case <-time.After(c.takes):
				case <-ctx.Done():
				}
				return want, context.Cause(ctx)
			})
			if stuck := errors.Is(err, errStuck); stuck != c.stuck || !stuck && (res != want || err != nil) {
				t.Errorf("%+v: %v %v", c, res, err)
			}
		})
	}
}

// TestALogThatDoesNotEndHoldsNoAnswer: the disk may be what the call is stuck on.
func TestALogThatDoesNotEndHoldsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := make(chan string)
		w := &Watchdog{Log: slog.New(slog.DiscardHandler), Locks: func() string { return <-locks }}
		_, err := w.Run(t.Context(), "tool", func(ctx context.Context, _ func(time.Duration)) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, errStuck) {
			t.Error(err)
		}
		close(locks)
	})
}

// TestAPanicOfACallIsAProtocolError, and not the end of the process.
func TestAPanicOfACallIsAProtocolError(t *testing.T) {
	w := &Watchdog{Log: slog.New(slog.DiscardHandler)}
	_, err := w.Run(t.Context(), "tool", func(context.Context, func(time.Duration)) (*mcp.CallToolResult, error) { panic("a bug") })
	if err == nil || err.Error() != bugError().Error() {
		t.Error(err)
	}
}
