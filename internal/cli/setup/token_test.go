package setup

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// TestWhenATokenEnds, seen from noon of a day of 25 hours: a day counts where the person is, and is not over before it is.
func TestWhenATokenEnds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	now := time.Date(2026, 10, 25, 12, 0, 0, 500, berlin)
	for text, want := range map[string]string{
		"1h":         "2026-10-25T13:00:00+01:00",
		"30d":        "2026-11-24T12:00:00+01:00",
		"99999d":     "2300-08-09T13:00:00+02:00",
		"2026-10-25": "2026-10-25T23:59:59+01:00",
		"2027-07-01": "2027-07-01T23:59:59+02:00",
		"2028-02-29": "2028-02-29T23:59:59+01:00",
		"2026-10-24": "", "2027-02-29": "", "2027-1-31": "", "0h": "", "0d": "", "00000d": "", "100000d": "", "d": "", "30": "", "1.5h": "",
		"+1h": "", "-1h": "", "1h ": "", "30m": "", "1d12h": "", "never": "", " ": "",
	} {
		got, err := expiry(text, now)
		if want == "" {
			if err == nil || !got.IsZero() || cli.Explain(err).Exit != cli.ExitUsage || cli.Explain(err).Remedy == "" {
				t.Errorf("%q: %v, %v", text, got, err)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339) != want || got.Nanosecond() != 0 {
			t.Errorf("%q: %v, %v, want %s", text, got.Format(time.RFC3339Nano), err, want)
		}
	}
	if got, err := expiry("", now); err != nil || !got.IsZero() {
		t.Errorf("%v, %v", got, err)
	}
}
