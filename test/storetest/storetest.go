// Package storetest tests what every store promises, in one process and in several, whatever it keeps its machines in.
package storetest

import (
	"context"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A Kind is a kind of store.
type Kind struct {
	// New makes a machine without events.
	New func(t testing.TB) Place
	// Open opens a machine by the address of its place. It is used in other processes too.
	Open func(address string) (store.Machine, error)
	// Hurry opens it so that no call waits long for a writer that stands still; nil where none waits.
	Hurry func(address string) (store.Machine, error)
}

// A Place is where a machine is kept.
type Place struct {
	Address string
	// Alter changes one byte of the line that starts at a byte of the journal, which the store does not notice, and the next time changes it
	// back. The store is opened anew afterwards.
	Alter func(t testing.TB, off int64)
	// Import makes another machine with the bytes of a journal.
	Import func(t testing.TB, journal []byte) (Place, error)
	// Branch says how Fork makes another machine, and where that is.
	Branch func(t testing.TB) (store.Branch, Place)
	// Forked reports whether Fork has made the machine, so that Open opens it.
	Forked func(t testing.TB, to Place) bool
}

// open opens a machine for a test.
func (k Kind) open(t testing.TB, p Place) store.Machine {
	t.Helper()
	m, err := k.Open(p.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// Run runs all tests with a kind of store. The test program has called [Main].
func Run(t *testing.T, k Kind) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Kind)
	}{
		{"reads and writes are linearizable", linearizable},
		{"killed writers lose nothing acknowledged", killedWriters},
		{"writers lose no update", noUpdateIsLost},
		{"a stopped writer goes on from the newest state", stoppedWriter},
		{"a watcher misses no change", watching},
		{"a session lives and ends", sessions},
		{"a fork is whole or absent", forkKilled},
		{"a fork goes on from where it was made", forkGoesOn},
		{"an export is the journal", exports},
		{"an altered byte is found", altered},
		{"texts are kept to the byte", texts},
		{"what cannot be written is refused", refused},
		{"an error of decide changes nothing", decideFails},
		{"decide may read", decideReads},
		{"lines are found", finding},
		{"a renewal is kept and ends with its claim", renewals},
		{"a cancelled call changes nothing", cancelled},
		{"an older journal and its snapshots", reopened},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, k) })
	}
}

// most is how much of something is tried: usually, and with the flag -full of the test program.
func most(usual, far int) int {
	if kit.Full() {
		return far
	}
	return usual
}

// count raises the epoch by one.
func count(now store.Snapshot) (*store.Change, error) {
	next := now.Task.Clone()
	next.Epoch++
	return &store.Change{Event: "repair", Next: next}, nil
}

// noted is count with a note.
func noted(note string) func(store.Snapshot) (*store.Change, error) {
	return func(now store.Snapshot) (*store.Change, error) {
		c, err := count(now)
		c.Note = note
		return c, err
	}
}

// apply applies a change.
func apply(t testing.TB, m store.Machine, decide func(store.Snapshot) (*store.Change, error)) store.Snapshot {
	t.Helper()
	snap, err := m.Apply(context.Background(), decide)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// view reads the machine.
func view(t testing.TB, m store.Machine) store.Snapshot {
	t.Helper()
	snap, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// history reads all lines, and checks that they end where the machine is.
func history(t testing.TB, m store.Machine) []*store.Line {
	t.Helper()
	var lines []*store.Line
	for l, err := range m.History() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	snap := view(t, m)
	if n := len(lines); uint64(n) != snap.Task.Seq || n > 0 && (lines[n-1].H != snap.Journal.H || lines[n-1].End != snap.Journal.Bytes) {
		t.Fatalf("%d lines, the machine is at line %d, byte %d", n, snap.Task.Seq, snap.Journal.Bytes)
	}
	return lines
}

// code returns the code of a store's error, "" for another.
func code(err error) refusal.Code {
	if e, ok := err.(*refusal.RefusedError); ok {
		return e.Code
	}
	return ""
}
