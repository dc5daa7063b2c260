// Package store keeps the state machine of one task: its journal, the machine as it is, and the sessions that live. A journal is
// kept in the files of a folder or in PostgreSQL; package store has what both share, the packages below it keep it.
//
// The source of truth is the journal. One line is one event, with the documents that it wrote and the complete state after it.
// Each line has the hash of the one before. The bytes of a journal are the same wherever it is kept.
//
// A store does not decide what may happen. [Machine.Apply] passes the present state to a function of the caller, under a lock,
// and saves what the function returns. Nothing slow belongs into such a function.
//
// A transition takes five steps:
//
//  1. The engine gathers facts without a lock: a fingerprint, the frozen gate, the outcome of a check.
//  2. Apply takes the lock and loads the state, which is the newest line. If a generated file was edited, it first journals a
//     violation and restores the file.
//  3. The function of the caller verifies the claim, asks state.Step, and verifies that the facts of step 1 still hold.
//  4. The store appends one line and syncs it. This is the commit.
//  5. The store writes STATE.json and the changed documents without a sync. After a crash the next process that takes the
//     lock does it.
//
// The renewal of a lease only rewrites STATE.json; it has no journal line. What an event means is not the matter of a store.
//
// Start reading at machine.go.
package store

import (
	"context"
	"io"
	"iter"

	"github.com/ferrus-go/ferrus/internal/lease"
)

// A Machine is one journal and what belongs to it, wherever it is kept. It is safe for concurrent use by goroutines, and by
// several processes that have it open. Its errors are *refusal.RefusedError, or those of the functions that it calls.
type Machine interface {
	Reader

	// View returns the present machine. Reads are linearizable: every acknowledged event is visible.
	View() (Snapshot, error)
	// Last returns the machine as this process read it last, without reading again; false if it has not read it yet.
	Last() (Snapshot, bool)

	// Apply commits the change that decide returns. decide runs under the lock of the machine, must be quick, changes nothing
	// but its own result, and may run again; a nil change changes nothing. The new line starts at now.Journal.Bytes. The result is
	// the machine after the event.
	//
	// An error of decide is returned as it is. Code StoreError means that nothing was changed, code OutcomeUnknown that
	// the event may or may not stand.
	Apply(ctx context.Context, decide func(now Snapshot) (*Change, error)) (Snapshot, error)
	// Renew writes a new term of the lease, without a line. A renewal may be lost in a crash. An error of decide is returned as it
	// is. Code StoreError means that the term is the old one.
	Renew(ctx context.Context, decide func(now Snapshot) (Lease, error)) (Snapshot, error)

	// LineOf returns the line with the number seq, nil when there is none.
	LineOf(seq uint64) (*Line, error)
	// First returns the first line for which reached is true, nil when there is none. reached must be false for all lines
	// before that one and true for all after it.
	First(reached func(*Line) bool) (*Line, error)
	// History yields all lines, oldest first, and verifies each line and the chain. It ends with an error of code Corrupt at an altered
	// line.
	History() iter.Seq2[*Line, error]
	// HistoryFrom is History from the line that starts at byte off. Earlier lines are not read.
	HistoryFrom(off int64) iter.Seq2[*Line, error]
	// Newest yields the n newest lines, oldest first, or all of them if there are fewer.
	Newest(n int) iter.Seq2[*Line, error]
	// Bytes returns the bytes of the journal from one position up to another, both where a line starts or the journal ends.
	Bytes(from, to int64) (io.ReadCloser, error)

	// Clock reads the clock by which the terms of leases are measured: that of this computer, or of the database.
	Clock() lease.Instant

	// Watch starts a watcher. The caller closes it.
	Watch() *Watcher

	// Announce says that a session, which must be new, lives in this process. It lives until Close or the end of the process.
	Announce(session string) (io.Closer, error)
	// Probe tests whether a session is alive.
	Probe(session string) lease.Probe
	// SessionDone returns a channel that is closed soon after the end of a session's process; nil if the end cannot be waited for.
	SessionDone(session string) <-chan struct{}

	// Fork makes another machine from the beginning of this journal: the lines up to the byte upto, where a line ends, and then
	// the event that decide makes of the state at that point. It is there whole or not at all.
	Fork(ctx context.Context, as Branch, upto int64, decide func(Snapshot) (*Change, error)) error

	// InPlace reports whether the machine that was opened is still the one in its place: it was neither removed nor replaced.
	InPlace() bool
	// Locks describes who holds the machine's locks, for the log of a call that hangs. It does not wait, and proves nothing.
	Locks() string
	Close() error
}

// A Reader reads lines of a journal.
type Reader interface {
	// LineAt returns the line that starts at a byte of the journal.
	LineAt(off int64) (*Line, error)
}

// A Branch is a machine that Fork makes.
type Branch struct {
	Name   string                  // of the branch
	Draft  string                  // the folder in which it is made; other files in it move with it
	Dir    string                  // the folder that Draft becomes when the machine is complete; it must not exist
	Backup func() string           // returns the path of the journal's hard-linked copy, "" for none
	Begin  func(hash string) error // gets the hash of a journal's first line before that line is appended; nil for nothing
}

// A Watcher sends a notification when the machine may have changed. A notification has no content:
// arm the watcher, read the state, then wait. Notifications may be merged, but a change after Watch
// always leads to one.
type Watcher struct {
	C     <-chan struct{} // at most one notification is pending
	close func()
}

// NewWatcher returns a watcher whose Close calls end.
func NewWatcher(c <-chan struct{}, end func()) *Watcher { return &Watcher{c, end} }

// Close stops the watcher. It may still be at work for a short time.
func (w *Watcher) Close() { w.close() }
