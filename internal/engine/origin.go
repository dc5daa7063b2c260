package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrus-go/ferrus/internal/rootfs"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/trust"
	"github.com/ferrus-go/ferrus/internal/worktree"
)

// A Strangeness says why state is not ours.
type Strangeness string

const (
	TrackedState Strangeness = "tracked" // git tracks a control file in .ferrus
	OwnedByOther Strangeness = "owner"   // .ferrus, or a folder above it in the work tree, belongs to another user
	OtherJournal Strangeness = "journal" // the lines that were recorded here do not stand in the journal
	OlderJournal Strangeness = "older"   // the journal ends before a line that was recorded here
)

// A ForeignError is the refusal of state that was not made here. It is a *Refusal of code ForeignState.
type ForeignError struct {
	RefusedError
	Why   Strangeness
	Files []string // that git tracks, relative to .ferrus
}

// Unwrap returns the refusal.
func (f *ForeignError) Unwrap() error { return &f.RefusedError }

// Is reports whether the journal lacks newer lines, and whether target is store.ErrOlder.
func (f *ForeignError) Is(target error) bool {
	return target == store.ErrOlder && f.Why == OlderJournal
}

func foreign(why Strangeness, message, remedy string) *ForeignError {
	return &ForeignError{RefusedError: RefusedError{Code: ForeignState, Message: message, Remedy: remedy, Person: true}, Why: why}
}

// An origin judges whether the state at a place was made on this machine, by the record of its project.
type origin struct {
	place   Place
	project *trust.Project // never nil
	ctx     context.Context

	mu     sync.Mutex
	index  worktree.Index
	looked bool  // the index was looked at
	found  error // in it
	marked time.Time

	acted    bool // something was committed
	unmarked bool // a person has agreed, and no line is recorded yet
}

// gitLimit bounds what asks git while others wait.
const gitLimit = 10 * time.Second

// folders looks at whose .ferrus is and what git tracks in it. It asks git only where the index has changed and may list
// something. The error is a *ForeignError.
func (o *origin) folders() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.looked && o.index.Unchanged() {
		return o.found
	}
	if err := checkOwner(o.ctx, o.place); err != nil {
		return err
	}
	o.index, o.found = worktree.FindIndex(o.place.Root), nil
	if o.index.MayTrack(home) {
		ctx, cancel := context.WithTimeout(o.ctx, gitLimit) // all calls wait for this one
		defer cancel()
		names, err := worktree.TrackedFiles(ctx, o.place.Root, home)
		if err != nil {
			return &RefusedError{Code: StoreError, Message: "ask git what it tracks in " + home + ": " + err.Error(), Remedy: "check the git repository, then try again"}
		}
		o.found = trackedError(o.place.Root, names)
	}
	o.looked = true
	return o.found
}

func trackedError(root string, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool { return !Control(name) })
	if len(names) == 0 {
		return nil
	}
	shown := names[0]
	if n := len(names) - 1; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	f := foreign(TrackedState, fmt.Sprintf("git tracks %s in %s: it comes from a commit, not from this machine", trust.Visible(shown), filepath.Join(root, home)),
		"run ferrus doctor --fix, which sets it aside; then commit that it is gone")
	f.Files = names
	return f
}

// Control reports whether a file of .ferrus, by its path from there, is one that ferrus believes. What ferrus init copies
// for people and agents to read, and workflows.json, are none: they may be committed.
func Control(name string) bool {
	switch strings.ToLower(name) {
	case "workflows.json", "workflows.schema.json", "readme.md", "task.example.md", ".gitignore", ".gitattributes":
		return false
	}
	return !strings.HasPrefix(strings.ToLower(name), "skills/")
}

// journal is the store's Judge.
func (o *origin) journal(journal io.ReaderAt, size int64) error {
	if size == 0 {
		return nil // nothing in it can be believed
	}
	r, found, err := o.project.Record()
	if err != nil || !found || !r.Journal.Begun() {
		o.adoptLater(len(r.Agreed) > 0)
		return nil // a person is asked about that, together with the agreement
	}
	h, sound, err := store.HashAt(journal, 0, size)
	switch {
	case err == io.EOF && r.Journal.Off == 0:
		return nil // a first line that a crash has torn
	case err == io.EOF:
		return o.other("has no whole line")
	case err != nil:
		return err
	case !r.Journal.Began(h):
		return o.other("does not begin with a line that was written here")
	case !sound:
		return damagedAt(0)
	}
	if o.place.Branch != "" || r.Journal.H == "" {
		return nil
	}
	h, sound, err = store.HashAt(journal, r.Journal.Off, size)
	switch {
	case err == io.EOF:
		return foreign(OlderJournal, fmt.Sprintf("the journal of %s is older than last seen here (%s): a restored backup?", o.place.Root,
			r.Seen.Local().Format("2006-01-02 15:04")), "if you restored it: ferrus doctor --adopt; if not: ferrus doctor --fix")
	case err != nil:
		return err
	case h != r.Journal.H:
		return o.other(fmt.Sprintf("does not have the line at byte %d that was written here", r.Journal.Off))
	case !sound:
		return damagedAt(r.Journal.Off)
	}
	return nil
}

func (o *origin) adoptLater(yes bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unmarked = yes
}

func damagedAt(off int64) error {
	return &RefusedError{Code: Corrupt, Message: fmt.Sprintf("journal.jsonl: the line at byte %d does not match its hash", off),
		Remedy: "nothing was changed; run ferrus doctor", Person: true}
}

func (o *origin) other(what string) error {
	return foreign(OtherJournal, "the journal in "+o.place.Dir()+" "+what+": it was not made on this machine",
		"run ferrus doctor --fix, which sets it aside and restores yours; if it is yours: ferrus doctor --adopt")
}

// begin is the store's Begin: it records a first line. Where nothing is recorded and nothing can be, as with FERRUS_TRUST and a
// home that is read-only, there is nothing that the line would be compared with.
func (o *origin) begin(h string) error {
	err := o.project.Update(func(r *trust.Record) error {
		r.Journal.Begin(h)
		if o.place.Branch == "" {
			r.Journal.Off, r.Journal.H = 0, ""
		}
		return nil
	})
	if err == nil {
		return nil
	}
	if r, _, unread := o.project.Record(); unread != nil || !r.Journal.Begun() {
		return nil
	}
	return err
}

// nothingYet is recorded in the place of a first line where a journal was made and has none: one that has lines afterwards
// which were not recorded has them from elsewhere.
const nothingYet = "none"

// MarkEmpty records that the journal at a place is empty, where nothing is recorded yet. A record that cannot be written
// leaves it to the first line.
func MarkEmpty(place Place, project *trust.Project) {
	info, err := os.Lstat(filepath.Join(place.Dir(), "journal.jsonl"))
	if err != nil || info.Size() > 0 {
		return
	}
	if r, _, err := project.Record(); err != nil || r.Journal.Begun() {
		return
	}
	_ = project.Update(func(r *trust.Record) error {
		if !r.Journal.Begun() {
			r.Journal.Begin(nothingYet)
		}
		return nil
	})
}

// markEvery is how often a process that lives long records how far the journal is.
const markEvery = 30 * time.Second

// mark records where the newest line is. force takes it also where a later one was recorded. It is not called under the
// store's lock, and not for lines that are not synced.
func (o *origin) mark(journal io.ReaderAt, size int64, at store.Position, force bool) error {
	if o.place.Branch != "" || at.H == "" {
		return nil
	}
	first, _, err := store.HashAt(journal, 0, size)
	if err != nil {
		return err
	}
	if r, found, err := o.project.Record(); err != nil || found && !force && r.Journal.Began(first) && r.Journal.Off >= at.Last && r.Journal.H != "" {
		return err
	} else if !force && !r.Journal.Begun() && len(r.Agreed) == 0 {
		return nil // nobody has been asked yet
	}
	return o.project.Update(func(r *trust.Record) error {
		r.Journal.Begin(first)
		if force || r.Journal.H == "" || r.Journal.Off < at.Last {
			r.Journal.Off, r.Journal.H = at.Last, at.H
		}
		return nil
	})
}

// Foreign judges the state at a place without opening it: nil, or a *ForeignError, or why that cannot be told.
func Foreign(ctx context.Context, place Place, project *trust.Project) error {
	o := &origin{place: place, project: project, ctx: ctx}
	if err := o.folders(); err != nil {
		return err
	}
	root, err := rootfs.OpenBelow(place.Dir(), home, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return rootRefusal(err)
	}
	defer root.Close()
	f, err := root.Open("journal.jsonl")
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return o.journal(f, info.Size())
}

// Adopt records the journal as it stands as this machine's own, on a person's word.
func (e *Engine) Adopt() error {
	if e.origin == nil {
		return nil
	}
	snap, err := e.View()
	if err != nil {
		return err
	}
	return e.record(snap, true)
}

// record marks the newest line of a snapshot.
func (e *Engine) record(snap store.Snapshot, force bool) error {
	root, err := e.place.open()
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.Open("journal.jsonl")
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return e.origin.mark(f, info.Size(), snap.Journal, force)
}

// markLater records how far the journal is after an act, now and then.
func (e *Engine) markLater(snap store.Snapshot) {
	if e.origin == nil {
		return
	}
	e.origin.mu.Lock()
	now := e.opts.Now()
	due := now.Sub(e.origin.marked) >= markEvery
	if due {
		e.origin.marked = now
	}
	e.origin.acted = true
	e.origin.mu.Unlock()
	if due {
		e.markNow(snap)
	}
}

// markLast records how far the journal is at the end of an engine that has acted, or whose state is yet to be adopted.
func (e *Engine) markLast() {
	if e.origin == nil || e.foreign != nil {
		return
	}
	e.origin.mu.Lock()
	due := e.origin.acted || e.origin.unmarked
	e.origin.mu.Unlock()
	if !due {
		return
	}
	if snap, err := e.store.View(); err == nil {
		e.markNow(snap)
	}
}

func (e *Engine) markNow(snap store.Snapshot) {
	if err := e.record(snap, false); err != nil {
		e.log.Debug("the journal's newest line is not recorded", "error", err)
	}
}

// Ours returns nil while git tracks no control file of .ferrus and its folders are this user's: else a *ForeignError. It is
// for files that the engine does not read, such as the tokens. Without a record of the project it is nil.
func (e *Engine) Ours() error { return e.ours() }

// ours refuses state that git has begun to track since it was looked at.
func (e *Engine) ours() error {
	if e.origin == nil || e.opts.Look {
		return nil
	}
	return e.origin.folders()
}
