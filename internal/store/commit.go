package store

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/state"
)

// MaxDoc is the largest document in bytes.
const MaxDoc = 1 << 20

// A Change is an event to be committed: what the caller of Apply has decided.
type Change struct {
	Actor Actor
	Event state.Event
	Next  state.Task           // as Step returned it, with the event's facts laid over; Apply sets Seq, UpdatedAt and Docs
	Docs  map[state.Doc]string // texts that the event writes; GateDoc becomes the task's pin
	Drop  []state.Doc          // documents that the task has no longer
	Note  string
	Req   string // names the request; "" where a repetition is another event
	Lease *Lease // the term after the event; nil leaves it as it is
}

// Apply commits what decide makes of the present. decide runs under the lock, must be quick, and may return nil to
// change nothing. The line it commits will start at now.Journal.Bytes. The result is the machine after the event.
//
// An error of decide's is returned as it is. An *Error of code StoreError means that nothing was changed, of code
// OutcomeUnknown that the disk failed too late to tell.
func (s *Store) Apply(ctx context.Context, decide func(now Snapshot) (*Change, error)) (Snapshot, error) {
	var after Snapshot
	err := s.transact(ctx, func(journal file, now Snapshot) error {
		change, err := decide(now)
		if err != nil || change == nil {
			after = now
			return err
		}
		if after, err = s.commit(journal, now, change); err != nil {
			return err
		}
		s.show(after, nil)
		return nil
	})
	return after, err
}

// Renew rewrites the term of the lease, without a journal line and without fsync: a renewal lost in a crash is
// harmless. An error of decide's is returned as it is.
func (s *Store) Renew(ctx context.Context, decide func(now Snapshot) (Lease, error)) (Snapshot, error) {
	var after Snapshot
	err := s.transact(ctx, func(_ file, now Snapshot) (err error) {
		after = now
		if after.Lease, err = decide(now); err != nil {
			return err
		}
		s.showState(after)
		return nil
	})
	return after, err
}

// transact runs do under the lock on the machine as it is, with what was edited from outside put back and journalled.
func (s *Store) transact(ctx context.Context, do func(journal file, now Snapshot) error) error {
	return s.locked(ctx, func() error {
		journal, err := s.openJournal(os.O_RDWR | os.O_APPEND)
		if err != nil {
			return err
		}
		defer journal.Close()
		now, edits, err := s.load(journal)
		if err != nil {
			return err
		}
		for _, e := range edits {
			if now, err = s.commit(journal, now, violation(now, e)); err != nil {
				return err
			}
		}
		if len(edits) > 0 {
			s.showState(now)
		}
		return do(journal, now)
	})
}

// violation is the event of a view that was edited from outside.
func violation(now Snapshot, e edit) *Change {
	note := fmt.Sprintf("%s was edited from outside and put back; the edited copy is %s/%s. %s", e.name, logDir,
		editedName(e, now.Task.Seq+1), howToChange(e.name))
	if e.data == nil {
		note = fmt.Sprintf("%s was removed from outside and put back. %s", e.name, howToChange(e.name))
	}
	return &Change{Actor: Actor{Role: state.Engine, Agent: "ferrus"}, Event: state.Violation, Next: now.Task, Note: note}
}

func howToChange(name string) string {
	switch name {
	case stateFile:
		return "The state moves by the tools and by ferrus's commands; ferrus status names the one that moves it now."
	case string(state.TaskDoc):
		return "To change the task: ferrus reset, then ferrus task."
	}
	return "Agents write documents by their tools, a person by ferrus answer, reject and reopen."
}

// commit writes the change's line, the only commit point.
func (s *Store) commit(journal file, now Snapshot, c *Change) (Snapshot, error) {
	off := now.Journal.Bytes
	next := c.Next.Clone()
	next.SchemaVersion, next.Seq, next.UpdatedAt = state.SchemaVersion, now.Task.Seq+1, s.stamp()
	next.Docs = refs(next.Docs, c.Docs, off)
	for _, doc := range c.Drop {
		delete(next.Docs, doc)
	}
	if gate, ok := c.Docs[GateDoc]; ok {
		next.Pin = state.Pin{Off: off, SHA256: digest([]byte(gate))}
	}
	l := &Line{V: LineVersion, Seq: next.Seq, At: next.UpdatedAt, Actor: c.Actor, Event: c.Event, From: now.Task.State,
		To: next.State, Epoch: next.Epoch, Req: c.Req, Note: c.Note, Docs: c.Docs, State: next, Prev: genesis, Off: off}
	if now.Top != nil {
		l.Prev = now.Top.H
	}
	raw, err := l.encode()
	if err != nil {
		return now, err
	}
	l.End = off + int64(len(raw))
	if err := s.write(journal, raw, off); err != nil {
		return now, err
	}
	after := Snapshot{Task: next, Lease: now.Lease, Top: l, Journal: Position{Bytes: l.End, Last: off, H: l.H}}
	if c.Lease != nil {
		after.Lease = *c.Lease
	}
	if next.ClaimedBy == "" {
		after.Lease = Lease{}
	}
	return after, nil
}

// write appends raw durably. What fails is taken back; an fsync that failed is not tried again, because the kernel may
// have marked the lost pages clean.
func (s *Store) write(journal file, raw []byte, off int64) error {
	_, err := journal.Write(raw)
	if err == nil {
		err = journal.datasync()
	}
	if err == nil {
		return nil
	}
	back := journal.Truncate(off)
	if back == nil {
		back = journal.datasync()
	}
	if back != nil {
		return &Error{Code: OutcomeUnknown, What: "append to " + journalFile, Err: err,
			Remedy: "the event may or may not stand: see to the disk, then ask for the status and go on from it"}
	}
	return &Error{Code: StoreError, What: "append to " + journalFile, Err: err,
		Remedy: "nothing was changed: see whether the disk is full or the folder read-only, then try again"}
}

// stamp is now, as it is written: UTC, in milliseconds.
func (s *Store) stamp() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// CheckText says what is wrong with a text as a document or an argument: nil, or an *Error of code InvalidInput or
// TooLarge.
func CheckText(name, text string, limit int) error {
	bad := func(why, remedy string) error {
		return &Error{Code: InvalidInput, What: name + " " + why, Remedy: remedy}
	}
	switch {
	case len(text) > limit:
		return &Error{Code: TooLarge, What: fmt.Sprintf("%s has %d bytes and may have %d", name, len(text), limit),
			Remedy: "shorten it, or put the rest into a file of the work tree and name its path"}
	case !utf8.ValidString(text):
		return bad("is not valid UTF-8", "send plain text")
	case strings.ContainsRune(text, 0):
		return bad("contains a NUL character", "send plain text")
	case strings.TrimSpace(text) == "":
		return bad("is empty", "say something in it")
	}
	return nil
}
