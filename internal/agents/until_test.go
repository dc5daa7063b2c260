package agents

import (
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	zone := time.FixedZone("here", 2*3600)
	at := time.Date(2026, 11, 20, 14, 30, 0, 0, zone)
	in := func(d time.Duration) time.Time { return at.Add(d) }
	day := func(year, month, day, hour, minute int) time.Time {
		return time.Date(year, time.Month(month), day, hour, minute, 0, 0, zone)
	}
	for _, c := range []struct {
		text string
		want time.Time
	}{
		{"You’ve hit your usage limit. Upgrade to Pro, or try again at Nov 21st, 2026 1:31 AM.", day(2026, 11, 21, 1, 31)},
		{"You've hit your usage limit. Try again at 3:07 PM.", day(2026, 11, 20, 15, 7)},
		{"try again at 1:31 am", day(2026, 11, 21, 1, 31)},
		{"You've hit your session limit · resets 3pm", day(2026, 11, 20, 15, 0)},
		{"You've hit your session limit · resets 2:30pm", day(2026, 11, 21, 14, 30)},
		{"resets 3pm (UTC)", time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)},
		{"resets 12am", day(2026, 11, 21, 0, 0)},
		{"resets 12pm", day(2026, 11, 21, 12, 0)},
		{"You've hit your weekly limit · resets Nov 24, 5pm (UTC)", time.Date(2026, 11, 24, 17, 0, 0, 0, time.UTC)},
		{"resets Jan 2 at 5pm", day(2027, 1, 2, 17, 0)},
		{"Claude AI usage limit reached|1795230000", time.Unix(1795230000, 0)},
		{`{"resets_at":1795230000}`, time.Unix(1795230000, 0)},
		{`"resetsAt": 1795230000123`, time.UnixMilli(1795230000123)},
		{"available again after 2026-11-20T20:00:00Z", time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)},
		{"Please try again in 11.054s.", in(11054 * time.Millisecond)},
		{"Please try again in 850ms.", in(850 * time.Millisecond)},
		{"Try again in 3 days 4 hours 9 minutes.", in(76*time.Hour + 9*time.Minute)},
		{"Your quota will reset after 18h31m10s.", in(18*time.Hour + 31*time.Minute + 10*time.Second)},
		{"Please retry in 34.07s", in(34070 * time.Millisecond)},
		{"retry-after: 3600", in(time.Hour)},
		{"429 Too Many Requests", time.Time{}},
		{"resets 25pm", time.Time{}},
		{"resets 13:99 pm", time.Time{}},
		{"resets Foo 3, 5pm", time.Time{}},
		{"resets 3pm (Not/There)", time.Time{}},
		{"try again in 99999999999999999999 days", time.Time{}},
		{"try again later", time.Time{}},
	} {
		if got := until(c.text, at); !got.Equal(c.want) {
			t.Errorf("%q: until %v, want %v", c.text, got, c.want)
		}
	}
}

func TestTroubleIn(t *testing.T) {
	for _, c := range []struct {
		text string
		want Trouble
	}{
		{"exceeded retry limit, last status: 429 Too Many Requests", RateLimited},
		{"API Error: Request rejected (429) · This request would exceed your account's rate limit.", RateLimited},
		{"You’ve hit your usage limit.", RateLimited},
		{"Claude AI usage limit reached|1795230000", RateLimited},
		{"Rate limit reached for gpt-5 in organization org-x", RateLimited},
		{`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, RateLimited},
		{"unexpected status 401 Unauthorized: Incorrect API key provided", Unauthorised},
		{"Invalid API key · Please run /login", Unauthorised},
		{"OAuth token has expired", Unauthorised},
		{"Please set an Auth method in your settings.json or specify GEMINI_API_KEY", Unauthorised},
		{"required MCP servers failed to initialize: ferrus: handshaking", NoServer},
		{"Warning: MCP server(s) failed to start: ferrus. Continuing", NoServer},
		{"MCP issues detected. Run /mcp list for status.", NoServer},
		{"I wrote a test for the rate limiter, which counts to 429.", ""},
		{"the function returns an error when the key is missing", ""},
		{"Model metadata for `mock` not found.", ""},
		{"MCP server(s) failed to start: other.", ""},
		{"ok 401 tests", ""},
	} {
		if got, _ := troubleIn(c.text, time.Time{}); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
