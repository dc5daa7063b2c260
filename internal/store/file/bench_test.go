package file

import (
	"bufio"
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

// batch is how often each contender runs in one iteration of a benchmark.
const batch = 25

// compare runs each contender, a few times at a turn, and reports its quantiles.
func compare(b *testing.B, list ...*contender) {
	b.Helper()
	for b.Loop() {
		for _, c := range list {
			for range batch {
				began := time.Now()
				c.run()
				c.took = append(c.took, time.Since(began))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, c := range list {
		quantiles(b, c.name, c.took)
	}
}

func quantiles(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(micros(took[len(took)/2]), name+"-p50-µs")
	b.ReportMetric(micros(took[len(took)*99/100]), name+"-p99-µs")
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// history is how many lines a long journal has. With -short it has a tenth.
func history() int {
	if testing.Short() {
		return 10_000
	}
	return 100_000
}

// BenchmarkTransition measures a transition after a short history and after a long one. Beside it, it measures the same
// bytes appended with one fdatasync, alone and with a STATE.json replaced after it: what the disk takes for a
// transition that costs nothing else.
func BenchmarkTransition(b *testing.B) {
	s, old := long(b, 10), long(b, history())
	raw, shown := lastLine(b, s), []byte(read(b, s.Path(stateFile)))
	compare(b,
		&contender{name: "apply", run: func() { do(b, s, progress) }},
		floor(b, "append", raw, nil),
		&contender{name: "apply-long", run: func() { do(b, old, progress) }},
		floor(b, "append+replace", raw, shown))
}

// floor appends raw to a file and, where there is such, replaces another by shown.
func floor(b *testing.B, name string, raw, shown []byte) *contender {
	b.Helper()
	d := must(openDisk(b.TempDir()))
	f := must(d.open("floor", os.O_WRONLY|os.O_CREATE|os.O_APPEND))
	b.Cleanup(func() {
		f.Close()
		d.close()
	})
	return &contender{name: name, run: func() {
		must(f.Write(raw))
		must(0, f.datasync())
		if shown != nil {
			must(publish(d, "shown", shown))
		}
	}}
}

// BenchmarkView measures a read of the machine after a short history and after a long one, beside what the system takes
// to read the same bytes: STATE.json, and the line that it names.
func BenchmarkView(b *testing.B) {
	s, old := long(b, 10), long(b, history())
	at := view(b, s).Journal
	bytes := make([]byte, at.Bytes-at.Last)
	compare(b,
		&contender{name: "view", run: func() { view(b, s) }},
		&contender{name: "read", run: func() {
			must(os.ReadFile(s.Path(stateFile)))
			f := must(os.Open(s.Path(journalFile)))
			must(f.Stat())
			must(f.ReadAt(bytes, at.Last))
			f.Close()
		}},
		&contender{name: "view-long", run: func() { view(b, old) }})
}

// long makes a machine with that many lines, quickly: all but the first and the last few are written at once.
func long(b testing.TB, lines int) *Store {
	b.Helper()
	s := fresh(b, Options{Log: quiet})
	l := *do(b, s, create, claim, progress).Top
	f := must(os.OpenFile(s.Path(journalFile), os.O_WRONLY|os.O_APPEND, 0))
	w := bufio.NewWriterSize(f, 1<<20)
	for range lines - 4 {
		l.Prev, l.Off = l.H, l.End
		l.Seq++
		l.State.Seq++
		must(w.Write(must(l.Encode())))
	}
	must(0, w.Flush())
	must(0, f.Sync())
	must(0, f.Close())
	s = reopen(b, s)
	if n := do(b, s, progress).Task.Seq; n != uint64(lines) {
		b.Fatalf("%d lines", n)
	}
	return s
}

func lastLine(b *testing.B, s *Store) []byte {
	b.Helper()
	return []byte(read(b, s.Path(journalFile))[view(b, s).Journal.Last:])
}
