package file

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// TestTheNewestLinesAreTheEndOfTheHistory, however long the lines are, and whatever a crash has left behind them.
func TestTheNewestLinesAreTheEndOfTheHistory(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	for list := range s.Newest(1) {
		t.Errorf("an empty journal has %v", list)
	}
	if l, err := s.LineOf(1); l != nil || err != nil {
		t.Errorf("an empty journal has a line 1: %v %v", l, err)
	}
	const many = 12
	for i := range many {
		doc := strings.Repeat("d\n", 1+i*i*1000) // the longest is longer than what is read at a time
		do(t, s, func(now store.Snapshot) (*store.Change, error) {
			return &store.Change{Event: state.Repair, Next: now.Task, Docs: text(state.TaskDoc, doc)}, nil
		})
	}
	var all []string
	for l, err := range s.History() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(l.Seq, l.Off, l.H))
	}
	check := func() {
		t.Helper()
		for n := 1; n <= many+2; n++ {
			var got []string
			for l, err := range s.Newest(n) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(l.Seq, l.Off, l.H))
			}
			if want := all[max(0, len(all)-n):]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the newest %d are %v, not %v", n, got, want)
			}
		}
		for seq := uint64(0); seq <= many+1; seq++ {
			l, err := s.LineOf(seq)
			if err != nil || (l != nil) != (seq >= 1 && seq <= many) || l != nil && l.Seq != seq {
				t.Errorf("line %d is %v: %v", seq, l, err)
			}
		}
	}
	check()
	f, err := os.OpenFile(s.Path("journal.jsonl"), os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"v":2,"torn`); err != nil {
		t.Fatal(err)
	}
	check()

	// A store that reads an altered line finds it, and no other does.
	off := int64(0)
	for l := range s.Newest(3) {
		off = l.Off
		break
	}
	g, err := os.OpenFile(s.Path("journal.jsonl"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.WriteAt([]byte("X"), off+20); err != nil {
		t.Fatal(err)
	}
	for n, bad := range map[int]bool{1: false, 2: false, 3: true, 4: true} {
		var failed error
		for _, err := range s.Newest(n) {
			failed = err
		}
		if (code(failed) == refusal.Corrupt) != bad {
			t.Errorf("the newest %d: %v", n, failed)
		}
	}
}

// TestTheNewestLinesCostNothingOfTheRest counts what is read of a long journal.
func TestTheNewestLinesCostNothingOfTheRest(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, func(now store.Snapshot) (*store.Change, error) {
		return &store.Change{Event: state.Repair, Next: now.Task, Docs: text(state.TaskDoc, strings.Repeat("d", 1<<20))}, nil
	})
	do(t, s, func(now store.Snapshot) (*store.Change, error) {
		return &store.Change{Event: state.Repair, Next: now.Task}, nil
	})
	read := 0
	s.disk = &countingDisk{disk: s.disk, read: &read}
	for _, err := range s.Newest(1) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if read == 0 || read > 3*store.TailBlock {
		t.Errorf("%d bytes were read for one line", read)
	}
}

// A countingDisk counts the bytes that are read.
type countingDisk struct {
	disk
	read *int
}

func (d *countingDisk) open(name string, flag int) (file, error) {
	f, err := d.disk.open(name, flag)
	return countingFile{f, d.read}, err
}

type countingFile struct {
	file
	read *int
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.file.ReadAt(p, off)
	*f.read += n
	return n, err
}
