//go:build unix

package e2e

import (
	"testing"
	"time"
)

// TestCallsAreLinearizable lets many processes call and read at once; what each saw must be what one machine could have
// said that knows one call at a time. The checker's work grows with the square of a history, so there are several.
func TestCallsAreLinearizable(t *testing.T) {
	t.Parallel()
	const toml = "[checks]\ncommands = []\n[limits]\nmax_check_retries = 3\nmax_review_cycles = 3\n"
	var y weather
	for range rounds(1, 10) {
		t.Run("", func(t *testing.T) { y.blow(bare(t, toml), rounds(12, 16), 0, rounds(50, 100)) })
	}
	t.Logf("rig: cases=%d bad=%d; %d events in %v, judged in %v", y.calls, y.bad, y.events, y.raged.Round(time.Millisecond), y.judged.Round(time.Millisecond))
}
