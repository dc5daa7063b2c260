package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/safetext"
	"github.com/ferrus-go/ferrus/internal/state"
)

// MaxDoc is the largest document in bytes.
const MaxDoc = 1 << 20

// A Change is an event to be committed: what the caller of Apply has decided.
type Change struct {
	Actor Actor
	Event state.Event
	Next  state.Task           // as Step returned it, with the event's facts laid over; Apply sets Seq, UpdatedAt, Docs and Pin
	Docs  map[state.Doc]string // texts that the event writes, stored without hidden characters; GateDoc becomes the task's pin
	Drop  []state.Doc          // documents that the task has no longer
	Note  string               // likewise
	Back  uint64               // of a rollback: seq of the line to which it leads
	Req   string               // names the request; "" where a repetition is another event
	Lease *Lease               // the term after the event; nil leaves it as it is
}

// Apply commits what decide makes of the present. decide runs under the lock, must be quick, and may return nil to
// change nothing. The line it commits will start at now.Journal.Bytes. The result is the machine after the event.
//
// An error of decide's is returned as it is. An *Error of code StoreError means that nothing was changed, of code
// OutcomeUnknown that the disk failed too late to tell.
func (s *Store) Apply(ctx context.Context, decide func(now Snapshot) (*Change, error)) (Snapshot, error) {
	var after Snapshot
	var first *beginning
	for {
		err := s.transact(ctx, func(journal file, now lockedState) error {
			var change *Change
			var err error
			if first != nil && now.Top == nil {
				change = first.change
			} else if change, err = decide(now.Snapshot); err == nil {
				first = nil
			}
			if err == nil && change != nil {
				if now, err = s.commit(journal, now, change, first); err == nil {
					s.show(now)
				}
			}
			after = now.Snapshot
			return err
		})
		if first != nil || !errors.As(err, &first) {
			return after, err
		}
		// Another process may append its own first line meanwhile: then the change is decided anew.
		if err := s.opts.Begin(first.h); err != nil {
			return after, &Error{Code: StoreError, What: "record the journal's first line", Err: err,
				Remedy: "nothing was changed: see to the state folder, then try again"}
		}
	}
}

// Renew rewrites the term of the lease, without a journal line and without fsync: a renewal lost in a crash is
// harmless. An error of decide's is returned as it is; one of code StoreError means that the term is the old one.
func (s *Store) Renew(ctx context.Context, decide func(now Snapshot) (Lease, error)) (Snapshot, error) {
	var after Snapshot
	err := s.transact(ctx, func(_ file, now lockedState) error {
		after = now.Snapshot
		term, err := decide(after)
		if err != nil {
			return err
		}
		now.Lease, now.shown = term, false
		if err := s.show(now); err != nil {
			return &Error{Code: StoreError, What: "renew the lease", Err: err,
				Remedy: "see whether the disk is full or the folder read-only, then try again"}
		}
		after = now.Snapshot
		return nil
	})
	return after, err
}

// transact runs do under the lock on the machine as it is, with what was edited from outside journalled and then put
// back.
func (s *Store) transact(ctx context.Context, do func(journal file, now lockedState) error) error {
	if s.opts.ReadOnly {
		return &Error{Code: StoreError, What: s.dir + " is only read here", Remedy: "nothing was changed"}
	}
	return s.locked(ctx, func() error {
		journal, err := s.openJournal(os.O_RDWR | os.O_APPEND)
		if err != nil {
			return err
		}
		defer journal.Close()
		now, err := s.load(journal)
		if err != nil {
			return err
		}
		if len(now.edits) > 0 {
			change, err := s.violation(now)
			if err != nil {
				return err
			}
			now, err = s.commit(journal, now, change, nil)
			// A view was edited before the first event. This is rare enough to record the line under the lock.
			if first := (*beginning)(nil); errors.As(err, &first) {
				if err = s.opts.Begin(first.h); err == nil {
					now, err = s.commit(journal, now, first.change, first)
				}
			}
			if err != nil {
				return err
			}
		}
		if !now.shown || len(now.stale) > 0 {
			now.shown = s.show(now) == nil
		}
		return do(journal, now)
	})
}

// violation is the event of views that were edited from outside. It keeps copies of what they were edited to. Its
// request names what was found, so that what could not be put back yet is not journalled again.
func (s *Store) violation(now lockedState) (*Change, error) {
	next, err := state.Step(now.Task, state.Violation, state.Engine, state.Limits{})
	if err != nil {
		return nil, err
	}
	var notes, found []string
	for _, e := range now.edits {
		what, copied := "edited", ""
		if e.data == nil {
			what = "removed"
		} else if name := editedName(e.name, now.Task.Seq+1); s.keep(name, e.data) {
			copied = "; the edited copy is " + logDir + "/" + name
		}
		found = append(found, viewKey(e.name, e.sha))
		notes = append(notes, fmt.Sprintf("%s was %s from outside and put back%s. %s", e.name, what, copied, howToChange(e.name)))
	}
	return &Change{Actor: Actor{Role: state.Engine, Agent: "ferrus"}, Event: state.Violation, Next: next,
		Note: strings.Join(notes, " "), Req: strings.Join(found, " ")}, nil
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

// A beginning is the first line of a journal, which is not appended before Options.Begin was told of it.
type beginning struct {
	change *Change
	at     time.Time
	h      string
}

func (b *beginning) Error() string { return "the first line is not recorded yet" }

// commit writes the change's line, the only commit point. The views are left as they are. first is the line as it was
// recorded, where it is the first one; the error is a *beginning where it must be recorded and is not.
func (s *Store) commit(journal file, now lockedState, c *Change, first *beginning) (lockedState, error) {
	off := now.Journal.Bytes
	docs, note := accepted(c)
	next := c.Next.Clone()
	next.SchemaVersion, next.Seq, next.UpdatedAt = state.SchemaVersion, now.Task.Seq+1, s.stamp()
	if first != nil {
		next.UpdatedAt = first.at
	}
	next.Docs = refs(next.Docs, docs, off)
	for _, doc := range c.Drop {
		delete(next.Docs, doc)
	}
	if gate, ok := c.Docs[GateDoc]; ok {
		next.Pin = state.Pin{Off: off, SHA256: digest([]byte(gate))}
	}
	l := &Line{V: LineVersion, Seq: next.Seq, At: next.UpdatedAt, Actor: c.Actor, Event: c.Event, From: now.Task.State,
		To: next.State, Epoch: next.Epoch, Req: c.Req, Note: note, Back: c.Back, Docs: docs, State: next, Prev: genesis, Off: off}
	if now.Top != nil {
		l.Prev = now.Top.H
	}
	raw, err := l.encode()
	if err != nil {
		return now, err
	}
	if err := l.writable(len(raw)); err != nil {
		return now, err
	}
	if now.Top == nil && s.opts.Begin != nil && (first == nil || first.h != l.H) {
		return now, &beginning{c, next.UpdatedAt, l.H}
	}
	if now.Top == nil {
		// Whoever made the journal may have been killed before its name was durable.
		if err := s.settle(filepath.Dir(s.dir)); err != nil {
			return now, &Error{Code: StoreError, What: "sync " + s.dir, Err: err, Remedy: "nothing was changed: see to the disk"}
		}
	}
	if err := s.write(journal, raw, off); err != nil {
		return now, err
	}
	after := lockedState{Snapshot: at(l), stale: now.stale}
	for _, doc := range state.Docs() {
		if now.Task.Docs[doc] != next.Docs[doc] && !slices.Contains(after.stale, doc) {
			after.stale = append(after.stale, doc)
		}
	}
	switch {
	case next.ClaimedBy == "":
	case c.Lease != nil:
		after.Lease = *c.Lease
	default:
		after.Lease = now.Lease
	}
	return after, nil
}

// accepted are the texts of an event as they are stored: models and people are then shown the same characters, all of them
// visible. What ferrus writes for itself, such as the gate, is stored as it is.
func accepted(c *Change) (docs map[state.Doc]string, note string) {
	for doc, text := range c.Docs {
		if docs == nil {
			docs = make(map[state.Doc]string, len(c.Docs))
		}
		if docs[doc] = text; slices.Contains(state.Docs(), doc) {
			docs[doc] = safetext.Clean(text)
		}
	}
	return docs, safetext.Clean(c.Note)
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
