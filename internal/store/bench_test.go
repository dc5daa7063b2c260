package store

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// A contender is one of several things measured in turn, so that they share the weather on the machine.
type contender struct {
	name string
	run  func()
	took []time.Duration
}

// compare runs each contender b.N times, a few at a time, and reports its quantiles.
func compare(b *testing.B, list ...*contender) {
	b.Helper()
	for begun := 0; begun < b.N; begun += 25 {
		for _, c := range list {
			for range min(25, b.N-begun) {
				began := time.Now()
				c.run()
				c.took = append(c.took, time.Since(began))
			}
		}
	}
	for _, c := range list {
		quantiles(b, c.name, c.took)
	}
}

func quantiles(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), name+"-p99-µs")
}

// BenchmarkTransition measures a transition and, beside it, the same bytes appended with one fdatasync, alone and with
// a STATE.json replaced after it: what the disk takes for a transition that costs nothing else.
func BenchmarkTransition(b *testing.B) {
	for _, lines := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			s := long(b, lines)
			raw, shown := lastLine(b, s), []byte(read(b, s.Path(stateFile)))
			alone, both := floor(b, raw, nil), floor(b, raw, shown)
			b.ResetTimer()
			apply := &contender{name: "apply", run: func() { do(b, s, progress) }}
			compare(b, apply, alone, both)
			median := func(c *contender) float64 { return float64(c.took[len(c.took)/2]) }
			b.ReportMetric(median(apply)/median(alone), "x-append")
			b.ReportMetric(median(apply)/median(both), "x-append+replace")
		})
	}
}

// floor appends raw to a file and, where there is such, replaces another by shown.
func floor(b *testing.B, raw, shown []byte) *contender {
	b.Helper()
	d := must(openDisk(b.TempDir()))
	f := must(d.open("floor", os.O_WRONLY|os.O_CREATE|os.O_APPEND))
	b.Cleanup(func() {
		f.Close()
		d.close()
	})
	c := &contender{name: "append"}
	if shown != nil {
		c.name = "append+replace"
	}
	c.run = func() {
		must(f.Write(raw))
		must(0, f.datasync())
		if shown != nil {
			must(publish(d, "shown", shown))
		}
	}
	return c
}

func BenchmarkView(b *testing.B) {
	for _, lines := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			s := long(b, lines)
			b.ReportAllocs()
			b.ResetTimer()
			compare(b, &contender{name: "view", run: func() { view(b, s) }})
		})
	}
}

// long makes a machine with that many lines, quickly: all but the last few without a disk that syncs.
func long(b *testing.B, lines int) *Store {
	b.Helper()
	fast := fresh(b, Options{Log: quiet, disk: func(dir string) (disk, error) {
		d, err := openDisk(dir)
		return unsynced{d}, err
	}})
	do(b, fast, create, claim)
	for range lines - 3 {
		do(b, fast, progress)
	}
	s := reopen(b, fast)
	do(b, s, progress)
	return s
}

type unsynced struct{ disk }

func (d unsynced) open(name string, flag int) (file, error) {
	f, err := d.disk.open(name, flag)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ file }

func (unsyncedFile) datasync() error { return nil }

func lastLine(b *testing.B, s *Store) []byte {
	b.Helper()
	return []byte(read(b, s.Path(journalFile))[view(b, s).Journal.Last:])
}
