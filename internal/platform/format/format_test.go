package format

import (
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 12 * time.Millisecond: "12 ms", time.Second: "1 s", 119 * time.Second: "119 s",
		2 * time.Minute: "2 min", 119 * time.Minute: "119 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}
