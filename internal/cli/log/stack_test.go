package log

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status/stack"
)

// TestWhatAnAgentDidBetweenEightAndNine: clock times are of the day of the newest step, and the end is not included.
func TestWhatAnAgentDidBetweenEightAndNine(t *testing.T) {
	day := func(d, h, m int) time.Time { return time.Date(2026, 1, d, h, m, 0, 0, time.Local) }
	entries := []stack.Entry{
		{N: 1, Kind: stack.UserMessage, At: day(1, 8, 30), Text: "yesterday"},
		{N: 2, Kind: stack.UserMessage, At: day(2, 7, 59), Text: "before"},
		{N: 3, Kind: stack.AssistantMessage, At: day(2, 8, 0), Implied: true},
		{N: 4, Kind: stack.ToolCall, At: day(2, 8, 0), Tool: "check"},
		{N: 5, Kind: stack.ToolResult, At: day(2, 8, 59), Tool: "check", Text: "a\x1b[31m\nb", Illegal: "why"},
		{N: 6, Kind: stack.Finished, At: day(2, 9, 0), Text: "after"},
	}
	for _, c := range []struct{ since, until, want string }{
		{"8", "9", "4 5"}, {"8:00", "09:00:00", "4 5"}, {"8:01", "", "5 6"}, {"", "8", "1 2"}, {"2026-01-01 8:00", "2026-01-01T09:00", "1"},
		{"2026-01-02", "7:59", ""}, {"", "", "1 2 4 5 6"}, {day(2, 8, 59).Format(time.RFC3339), "", "5 6"},
	} {
		from, to, err := period(entries, c.since, c.until)
		if err != nil {
			t.Errorf("%s to %s: %v", c.since, c.until, err)
			continue
		}
		var out bytes.Buffer
		if err := showEntries(&cli.App{Out: &out}, context.Background(), entries, from, to); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range regexp.MustCompile(`(?m)^ +\d+`).FindAllString(out.String(), -1) {
			got = append(got, strings.TrimSpace(line))
		}
		if s := strings.Join(got, " "); s != c.want || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s to %s: %q, not %q\n%s", c.since, c.until, s, c.want, &out)
		}
		if marked := strings.Contains(out.String(), "1 step is marked !"); marked != strings.Contains(c.want, "5") {
			t.Errorf("%s to %s:\n%s", c.since, c.until, &out)
		}
	}
	for _, c := range [][2]string{{"9", "8"}, {"9", "9"}, {"noon", ""}, {"", "25:00"}, {"8:60", ""}} {
		if from, to, err := period(entries, c[0], c[1]); err == nil {
			t.Errorf("%s to %s is from %v to %v", c[0], c[1], from, to)
		}
	}
}

// TestJournalsAreMergedByTimeAndStayInOrder, also the one of a machine whose clock went back.
func TestJournalsAreMergedByTimeAndStayInOrder(t *testing.T) {
	journal := func(machine string, seconds ...int64) (list []row) {
		for _, s := range seconds {
			list = append(list, row{at: time.Unix(s, 0), machine: machine})
		}
		return list
	}
	var got strings.Builder
	for _, r := range interleave([][]row{journal("a", 1, 4, 2, 9), nil, journal("b", 3, 4, 5)}) {
		got.WriteString(r.machine)
		got.WriteString(r.at.UTC().Format("5 "))
	}
	if want := "a1 b3 a4 a2 b4 b5 a9 "; got.String() != want {
		t.Errorf("%s, not %s", &got, want)
	}
}
