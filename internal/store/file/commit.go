package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

// Apply commits the change that decide returns. decide runs under the lock and must be quick; nil
// changes nothing. The new line starts at now.Journal.Bytes. The result is the machine after the
// event.
//
// An error of decide is returned as it is. An *Error of code StoreError means that nothing was
// changed. Code OutcomeUnknown means that the disk failed and the result is unknown.
func (s *Store) Apply(ctx context.Context, decide func(now store.Snapshot) (*store.Change, error)) (store.Snapshot, error) {
	var after store.Snapshot
	var first *beginning
	for {
		err := s.transact(ctx, func(journal file, now lockedState) error {
			var change *store.Change
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
			return after, refusal.Because(refusal.StoreError, "record the journal's first line", err,
				"nothing was changed: make the state folder writable, then try again")
		}
	}
}

// Renew rewrites the term of the lease, without a journal line and without a sync: a renewal that
// is lost in a crash does no harm. An error of decide is returned as it is. One of code StoreError
// means that the term is the old one.
func (s *Store) Renew(ctx context.Context, decide func(now store.Snapshot) (store.Lease, error)) (store.Snapshot, error) {
	var after store.Snapshot
	err := s.transact(ctx, func(_ file, now lockedState) error {
		after = now.Snapshot
		term, err := decide(after)
		if err != nil {
			return err
		}
		now.Lease, now.shown = term, false
		if err := s.show(now); err != nil {
			return refusal.Because(refusal.StoreError, "renew the lease", err,
				"check whether the disk is full or the folder read-only, then try again")
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
		return &refusal.RefusedError{Code: refusal.StoreError, Message: s.dir + " is opened read-only", Remedy: "nothing was changed"}
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
func (s *Store) violation(now lockedState) (*store.Change, error) {
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
	return &store.Change{Actor: store.Actor{Role: state.Engine, Agent: "ferrus"}, Event: state.Violation, Next: next,
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
	change *store.Change
	at     time.Time
	h      string
}

func (b *beginning) Error() string { return "the first line is not recorded yet" }

// commit appends the change's line: the only commit point. It leaves the generated files as they
// are. first is the recorded first line, if there is one. The error is a *beginning if the line is
// the first and is not recorded yet.
func (s *Store) commit(journal file, now lockedState, c *store.Change, first *beginning) (lockedState, error) {
	when := s.stamp()
	if first != nil {
		when = first.at
	}
	l, raw, err := c.Line(now.Snapshot, when)
	if err != nil {
		return now, err
	}
	if now.Top == nil && s.opts.Begin != nil && (first == nil || first.h != l.H) {
		return now, &beginning{c, when, l.H}
	}
	if now.Top == nil {
		// The process that made the journal may have been killed before its name was durable.
		if err := s.settle(filepath.Dir(s.dir)); err != nil {
			return now, refusal.Because(refusal.StoreError, "sync "+s.dir, err, "nothing was changed: repair the disk, then try again")
		}
	}
	if err := s.write(journal, raw, l.Off); err != nil {
		return now, err
	}
	after := lockedState{Snapshot: c.After(now.Snapshot, l), stale: now.stale}
	for _, doc := range state.Docs() {
		if now.Task.Docs[doc] != l.State.Docs[doc] && !slices.Contains(after.stale, doc) {
			after.stale = append(after.stale, doc)
		}
	}
	return after, nil
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
		return refusal.Because(refusal.OutcomeUnknown, "append to "+journalFile, err,
			"the event may or may not be saved: repair the disk, then read the status and continue from it")
	}
	return refusal.Because(refusal.StoreError, "append to "+journalFile, err,
		"nothing was changed: check whether the disk is full or the folder read-only, then try again")
}

// stamp returns the present time as it is written: UTC, in milliseconds.
func (s *Store) stamp() time.Time { return s.now().UTC().Truncate(time.Millisecond) }
