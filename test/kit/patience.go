package kit

import (
	"testing"
	"time"
)

// Patience is how long a test waits at most for a fact that another goroutine or process brings about. Most come in milliseconds; only what
// never comes takes so long, however busy the machine is.
const Patience = 5 * time.Minute

// Eventually waits until a claim holds, and ends the test if it does not within [Patience]. what is the claim in words.
func Eventually(t testing.TB, what string, claim func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !claim(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %v: %s", Patience, what)
		}
	}
}
