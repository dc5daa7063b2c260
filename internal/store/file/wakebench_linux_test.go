package file

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The parts that ring are of this file alone, because they are of no use where there is no inotify to compare with.
func init() {
	parts["ring"] = func(s *Store) { // makes an event for each line, and tells when its STATE.json was put in place
		var began int64
		s.disk = stamped{s.disk, &began}
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			must(s.Apply(context.Background(), count))
			fmt.Println(began)
		}
	}
	parts["rename"] = func(s *Store) { // puts a file in place for each line, and tells when
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			must(0, must(s.disk.open("bare/tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL)).Close())
			began := monotonic()
			must(0, s.disk.rename("bare/tmp", "bare/file"))
			fmt.Println(began)
		}
	}
}

// stamped is a disk that notes when STATE.json was put in place last.
type stamped struct {
	disk
	began *int64
}

func (d stamped) rename(from, to string) error {
	if to == stateFile {
		*d.began = monotonic()
	}
	return d.disk.rename(from, to)
}

func (d stamped) exchange(a, b string) error {
	if b == stateFile {
		*d.began = monotonic()
	}
	return d.disk.exchange(a, b)
}

// BenchmarkWake measures from the rename of STATE.json in another process to the view of the new state in this one.
// Beside it: from the rename of a file in another process to inotify having told this one.
func BenchmarkWake(b *testing.B) {
	s := fresh(b, Options{Log: quiet})
	do(b, s, create)
	bell := s.Watch()
	defer bell.Close()
	must(0, os.Mkdir(s.Path("bare"), 0o700))
	watch := must(unix.InotifyInit1(unix.IN_CLOEXEC))
	defer unix.Close(watch)
	must(unix.InotifyAddWatch(watch, s.Path("bare"), unix.IN_MOVED_TO))

	ours, bare := play(b, s, "ring"), play(b, s, "rename")
	var wakes, tells []time.Duration
	since := func(p process, woken int64) time.Duration {
		var began int64
		must(fmt.Sscan(p.says(b), &began))
		return time.Duration(woken - began)
	}
	for b.Loop() {
		for range batch {
			before := view(b, s).Task.Seq
			fmt.Fprintln(ours.in)
			for view(b, s).Task.Seq == before {
				<-bell.C
			}
			wakes = append(wakes, since(ours, monotonic()))

			fmt.Fprintln(bare.in)
			must(unix.Read(watch, make([]byte, 4096)))
			tells = append(tells, since(bare, monotonic()))
		}
	}
	b.ReportMetric(0, "ns/op")
	quantiles(b, "wake", wakes)
	quantiles(b, "inotify", tells)
}
