package run

import (
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// TestWhenARunEnds: each line is what a person says at noon, and what comes of it.
func TestWhenARunEnds(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		from, until string
		grace       time.Duration
		graced      bool
		want        string // the time at which it starts nothing more, or what is wrong
	}{
		{},
		{until: "07:00", want: "03 07:00"},
		{until: "13:00", grace: time.Hour, graced: true, want: "02 13:00"},
		{until: "90m", want: "02 13:30"},
		{from: "11:00", until: "13:00", want: "02 13:00"},
		{from: "22:00", until: "13:00", want: "02 13:00"},
		{from: "22:00", until: "07:00", want: "nothing is started between 07:00 and 22:00, and it is 12:00"},
		{from: "12:01", until: "13:00", want: "nothing is started between 13:00 and 12:01, and it is 12:00"},
		{from: "07:00", until: "7:00", want: "--from 07:00 needs another time of the day as --until"},
		{from: "22:00", until: "9h", want: "--from 22:00 needs another time of the day as --until"},
		{from: "late", until: "07:00", want: `--from: "late" is no time of the day`},
		{from: "22:00", want: "--from is for --until"},
		{graced: true, grace: time.Hour, want: "--grace is for --until"},
		{until: "07:00", grace: -1, graced: true, want: "--grace -1ns is less than nothing"},
		{until: "soon", want: `--until: "soon" is neither a time of the day nor a duration`},
	} {
		d := ending{from: x.from, until: x.until, grace: x.grace}
		got := ""
		if err := d.resolve(x.graced, noon); err != nil {
			got = cli.Explain(err).Message
		} else if !d.At.IsZero() {
			got = d.At.Format("02 15:04")
		}
		if got != x.want || d.Grace != 0 && d.Grace != x.grace {
			t.Errorf("%+v: %q", x, got)
		}
	}
}
