package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// timed runs f b.N times and reports the quantiles of what it took, which it returns.
func timed(b *testing.B, unit string, f func()) (p50 time.Duration) {
	took := make([]time.Duration, b.N)
	for i := range took {
		began := time.Now()
		f()
		took[i] = time.Since(began)
	}
	return quantiles(b, unit, took)
}

func quantiles(b *testing.B, unit string, took []time.Duration) (p50 time.Duration) {
	slices.Sort(took)
	p50 = took[len(took)/2]
	b.ReportMetric(float64(p50.Microseconds()), unit+"-p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), unit+"-p99-µs")
	return p50
}

// BenchmarkTransition measures a transition, and beside it in the same run the floor: the same bytes appended with
// one fdatasync.
func BenchmarkTransition(b *testing.B) {
	for _, lines := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			s := long(b, lines)
			raw := lastLine(b, s)
			floor, err := os.OpenFile(filepath.Join(b.TempDir(), "floor"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer floor.Close()
			b.ReportAllocs()
			b.ResetTimer()
			apply := timed(b, "apply", func() { do(b, s, progress) })
			b.StopTimer()
			append := timed(b, "append", func() {
				if _, err := floor.Write(raw); err != nil {
					b.Fatal(err)
				}
				if err := (osFile{floor}).datasync(); err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(apply)/float64(append), "ratio")
		})
	}
}

func BenchmarkView(b *testing.B) {
	for _, lines := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			s := long(b, lines)
			b.ReportAllocs()
			b.ResetTimer()
			timed(b, "view", func() { view(b, s) })
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
