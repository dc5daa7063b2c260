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

// A Change is an event to commit, as the function that Apply calls decided it.
type Change struct {
	Actor Actor
	Event state.Event
	Next  state.Task           // as Step returned it, with the event's facts laid over; Apply sets Seq, UpdatedAt, Docs and Pin
	Docs  map[state.Doc]string // texts that the event writes, stored without hidden characters; GateDoc becomes the frozen gate
	Drop  []state.Doc          // documents that the event removes
	Note  string               // stored without hidden characters
	Back  uint64               // of a rollback: seq of the line to which it leads
	Rule  string               // the rule by which ferrus acts; "" where nobody acts by one
	Req   string               // names the request; "" where a repetition is another event
	Lease *Lease               // the term after the event; nil leaves it as it is
}

// Apply commits the change that decide returns. decide runs under the lock and must be quick; nil
// changes nothing. The new line starts at now.Journal.Bytes. The result is the machine after the
// event.
//
// An error of decide is returned as it is. An *Error of code StoreError means that nothing was
// changed. Code OutcomeUnknown means that the disk failed and the result is unknown.
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
		// Another process may append its own first line meanwhile. Then decide runs again.
		if err := s.opts.Begin(first.h); err != nil {
			return after, &Error{Code: StoreError, What: "record the journal's first line", Err: err,
				Remedy: "nothing was changed: make the state folder writable, then try again"}
		}
	}
}

// Renew rewrites the term of the lease, without a journal line and without a sync: a renewal that
// is lost in a crash does no harm. An error of decide is returned as it is. One of code StoreError
// means that the term is the old one.
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
				Remedy: "check whether the disk is full or the folder read-only, then try again"}
		}
		after = now.Snapshot
		return nil
	})
	return after, err
}

// transact runs do under the lock on the present machine. Before that, edits of generated files
// from outside are journalled and reverted.
func (s *Store) transact(ctx context.Context, do func(journal file, now lockedState) error) error {
	if s.opts.ReadOnly {
		return &Error{Code: StoreError, What: s.dir + " is opened read-only", Remedy: "nothing was changed"}
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
			// A generated file was edited before the first event. This is rare enough to record the
			// line under the lock.
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

// violation is the event of generated files that were edited from outside. It saves copies of the
// edited files. Its request id names the edits, so that an edit that could not be reverted yet is
// not journalled again.
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
		notes = append(notes, fmt.Sprintf("%s was %s from outside and restored%s. %s", e.name, what, copied, howToChange(e.name)))
	}
	return &Change{Actor: Actor{Role: state.Engine, Agent: "ferrus"}, Event: state.Violation, Next: next,
		Note: strings.Join(notes, " "), Req: strings.Join(found, " ")}, nil
}

func howToChange(name string) string {
	switch name {
	case stateFile:
		return "Only the tools and ferrus's commands change the state; ferrus status names the next one."
	case string(state.TaskDoc):
		return "To change the task: ferrus reset, then ferrus task."
	}
	return "Agents write documents with their tools, people with ferrus answer, reject and reopen."
}

// A beginning is the first line of a journal. It is appended only after Options.Begin has recorded
// it.
type beginning struct {
	change *Change
	at     time.Time
	h      string
}

func (b *beginning) Error() string { return "the first line is not recorded yet" }

// commit appends the change's line: the only commit point. It leaves the generated files as they
// are. first is the recorded first line, if there is one. The error is a *beginning if the line is
// the first and is not recorded yet.
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
		To: next.State, Epoch: next.Epoch, Req: c.Req, Note: note, Back: c.Back, Rule: c.Rule, Docs: docs, State: next, Prev: genesis, Off: off}
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
		// The process that made the journal may have been killed before its name was durable.
		if err := s.settle(filepath.Dir(s.dir)); err != nil {
			return now, &Error{Code: StoreError, What: "sync " + s.dir, Err: err, Remedy: "nothing was changed: repair the disk, then try again"}
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

// accepted returns the texts of an event as they are stored, so that models and people see the same
// characters. Texts that ferrus writes for itself, such as the gate, are stored unchanged.
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

// write appends raw durably. A failed write is undone. A failed fsync is not repeated, because the
// kernel may have marked the lost pages clean.
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
			Remedy: "the event may or may not be saved: repair the disk, then read the status and continue from it"}
	}
	return &Error{Code: StoreError, What: "append to " + journalFile, Err: err,
		Remedy: "nothing was changed: check whether the disk is full or the folder read-only, then try again"}
}

// stamp returns the present time as it is written: UTC, in milliseconds.
func (s *Store) stamp() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// CheckText returns nil if text can be a document or an argument of at most limit bytes, otherwise
// an *Error of code InvalidInput or TooLarge.
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
		return bad("is empty", "write a text that is not empty")
	}
	return nil
}
