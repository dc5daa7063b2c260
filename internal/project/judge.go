package project

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

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
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

// A ForeignError is the refusal of state that was not made here. It is a *refusal.RefusedError of code ForeignState.
type ForeignError struct {
	refusal.RefusedError
	Why   Strangeness
	Files []string // that git tracks, relative to .ferrus
}

// Unwrap returns the refusal.
func (f *ForeignError) Unwrap() error { return &f.RefusedError }

// Is reports whether the journal lacks newer lines, and whether target is store.ErrOlder.
func (f *ForeignError) Is(target error) bool {
	return target == store.ErrOlder && f.Why == OlderJournal
}

func foreign(why Strangeness, message string, remedy refusal.Own) *ForeignError {
	return &ForeignError{RefusedError: refusal.RefusedError{Code: refusal.ForeignState, Message: message, Remedy: remedy, Person: true}, Why: why}
}

// A Judge tells whether the state at a place was made on this machine, by the record of its project.
type Judge struct {
	place  Place
	record *trust.Project // never nil
	ctx    context.Context

	mu     sync.Mutex
	index  worktree.Index
	looked bool  // the index was looked at
	found  error // in it
	marked time.Time

	acted    bool // something was committed
	unmarked bool // a person has agreed, and no line is recorded yet
}

// NewJudge returns the judge of a place. Its calls of git end with ctx; now is when the record was last looked at.
func NewJudge(ctx context.Context, place Place, record *trust.Project, now time.Time) *Judge {
	return &Judge{place: place, record: record, ctx: ctx, marked: now}
}

// CheckFolders looks at whose .ferrus is and what git tracks in it. It asks git only where the index has changed and may list
// something. The error is a *ForeignError.
func (j *Judge) CheckFolders() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.looked && j.index.Unchanged() {
		return j.found
	}
	if err := checkOwner(j.ctx, j.place); err != nil {
		return err
	}
	j.index, j.found = worktree.FindIndex(j.place.Root), nil
	if j.index.MayTrack(DirName) {
		ctx, cancel := context.WithTimeout(j.ctx, GitLimit) // all calls wait for this one
		defer cancel()
		names, err := worktree.TrackedFiles(ctx, j.place.Root, DirName)
		if err != nil {
			return &refusal.RefusedError{Code: refusal.StoreError, Message: "ask git what it tracks in " + DirName + ": " + err.Error(), Remedy: "check the git repository, then try again"}
		}
		j.found = trackedError(j.place.Root, names)
	}
	j.looked = true
	return j.found
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
	f := foreign(TrackedState, fmt.Sprintf("git tracks %s in %s: it comes from a commit, not from this machine", trust.Visible(shown), filepath.Join(root, DirName)),
		"run ferrus doctor{branch} --fix, which sets it aside; then commit that it is gone")
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

// Journal is the Judge of a store in files.
func (j *Judge) Journal(journal io.ReaderAt, size int64) error {
	if size == 0 {
		return nil // nothing in it can be believed
	}
	return j.judge(func(off int64) (string, bool, error) { return store.HashAt(journal, off, size) })
}

// Machine judges a machine in a database, which is bound by the lines that this computer has seen: a database that was restored from an older
// backup lacks them.
func (j *Judge) Machine(m store.Machine) error {
	now, err := m.View()
	if err != nil || now.Top == nil {
		return err
	}
	return j.judge(func(off int64) (string, bool, error) {
		if off >= now.Journal.Bytes {
			return "", false, io.EOF
		}
		l, err := m.LineAt(off)
		if err != nil {
			return "", false, err
		}
		return l.H, true, nil
	})
}

// judge compares the lines of a journal that is not empty with those that were recorded here. hashAt is store.HashAt for it.
func (j *Judge) judge(hashAt func(off int64) (hash string, valid bool, err error)) error {
	r, found, err := j.record.Record()
	if err != nil || !found || !r.Journal.Begun() {
		j.adoptLater(len(r.Agreed) > 0)
		return nil // a person is asked about that, together with the agreement
	}
	h, valid, err := hashAt(0)
	switch {
	case err == io.EOF && r.Journal.Off == 0:
		return nil // a first line that a crash has torn
	case err == io.EOF:
		return j.other("has no whole line")
	case err != nil:
		return err
	case !r.Journal.Began(h) && r.Shared == nil: // a branch of a shared project may have begun anywhere
		return j.other("does not begin with a line that was written here")
	case !r.Journal.Began(h) && j.place.Branch == "" && r.Journal.H == "": // another computer has made the first task of the project
		return refusal.Folder(j.record.Update(func(r *trust.Record) error {
			r.Journal.Begin(h)
			return nil
		}))
	case !r.Journal.Began(h) && j.place.Branch == "":
		return j.other("does not begin with a line that was seen here")
	case !valid:
		return damagedAt(0)
	}
	if j.place.Branch != "" || r.Journal.H == "" {
		return nil
	}
	h, valid, err = hashAt(r.Journal.Off)
	switch {
	case err == io.EOF:
		return foreign(OlderJournal, fmt.Sprintf("the journal of %s is older than last seen here (%s): a restored backup?", j.place.Root,
			r.Seen.Local().Format("2006-01-02 15:04")), "if you restored it: ferrus doctor{branch} --adopt; if not: ferrus doctor{branch} --fix")
	case err != nil:
		return err
	case h != r.Journal.H:
		return j.other(fmt.Sprintf("does not have the line at byte %d that was written here", r.Journal.Off))
	case !valid:
		return damagedAt(r.Journal.Off)
	}
	return nil
}

func (j *Judge) adoptLater(yes bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unmarked = yes
}

func damagedAt(off int64) error {
	return &refusal.RefusedError{Code: refusal.Corrupt, Message: fmt.Sprintf("journal.jsonl: the line at byte %d does not match its hash", off),
		Remedy: "nothing was changed; run ferrus doctor{branch}", Person: true}
}

func (j *Judge) other(what string) error {
	return foreign(OtherJournal, "the journal in "+j.place.Dir()+" "+what+": it was not made on this machine",
		"run ferrus doctor{branch} --fix, which sets it aside and restores yours; if it is yours: ferrus doctor{branch} --adopt")
}

// Begin is the store's Begin: it records a first line. Where nothing is recorded and nothing can be, as with FERRUS_TRUST and a
// home that is read-only, there is nothing that the line would be compared with.
func (j *Judge) Begin(h string) error {
	err := j.record.Update(func(r *trust.Record) error {
		r.Journal.Begin(h)
		if j.place.Branch == "" {
			r.Journal.Off, r.Journal.H = 0, ""
		}
		return nil
	})
	if err == nil {
		return nil
	}
	if r, _, unread := j.record.Record(); unread != nil || !r.Journal.Begun() {
		return nil
	}
	return err
}

// nothingYet is recorded in the place of a first line where a journal was made and has none: one that has lines afterwards
// which were not recorded has them from elsewhere.
const nothingYet = "none"

// MarkEmpty records that the journal at a place is empty, where nothing is recorded yet. A record that cannot be written
// leaves it to the first line.
func MarkEmpty(place Place, record *trust.Project) {
	info, err := os.Lstat(filepath.Join(place.Dir(), "journal.jsonl"))
	if err != nil || info.Size() > 0 {
		return
	}
	if r, _, err := record.Record(); err != nil || r.Journal.Begun() {
		return
	}
	_ = record.Update(func(r *trust.Record) error {
		if !r.Journal.Begun() {
			r.Journal.Begin(nothingYet)
		}
		return nil
	})
}

// markEvery is how often a process that lives long records how far the journal is.
const markEvery = 30 * time.Second

// Due notes that something was committed, and reports whether the newest line is to be recorded now: once in markEvery.
func (j *Judge) Due(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.acted = true
	if now.Sub(j.marked) < markEvery {
		return false
	}
	j.marked = now
	return true
}

// Owed reports whether the newest line is to be recorded before the process ends: it has committed something, or a person
// has agreed and no line is recorded yet.
func (j *Judge) Owed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.acted || j.unmarked
}

// Locks describes who holds the judge's lock, and waits for nobody.
func (j *Judge) Locks() string { return store.Mutex(j.mu.TryLock, j.mu.Unlock) }

// Mark records the newest line of the journal of a machine; force does so also where a later one was recorded. Of a branch only its first
// line is recorded, with force. It is not called under the store's lock, and not for lines that are not synced.
func (j *Judge) Mark(m store.Machine, at store.Position, force bool) error {
	if at.H == "" || j.place.Branch != "" && !force {
		return nil
	}
	first, err := m.LineAt(0)
	if err != nil {
		return err
	}
	if r, found, err := j.record.Record(); err != nil || found && !force && r.Journal.Began(first.H) && r.Journal.Off >= at.Last && r.Journal.H != "" {
		return err
	} else if !force && !r.Journal.Begun() && len(r.Agreed) == 0 {
		return nil // nobody has been asked yet
	}
	return j.record.Update(func(r *trust.Record) error {
		if !r.Journal.Begun() { // a person has agreed to all that is there
			beginBranches(j.place.Root, r)
		}
		r.Journal.Begin(first.H)
		if j.place.Branch == "" && (force || r.Journal.H == "" || r.Journal.Off < at.Last) {
			r.Journal.Off, r.Journal.H = at.Last, at.H
		}
		return nil
	})
}

// Foreign judges the state at a place without opening it: nil, or a *ForeignError, or why that cannot be told.
func Foreign(ctx context.Context, place Place, record *trust.Project) error {
	j := NewJudge(ctx, place, record, time.Time{})
	if err := j.CheckFolders(); err != nil {
		return err
	}
	if place.InDatabase() {
		return foreignShared(j)
	}
	f, size, err := openJournal(place)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	return j.Journal(f, size)
}

// beginBranches records the first lines of the branches of a project in files.
func beginBranches(root string, r *trust.Record) {
	if At(root, "").InDatabase() {
		return
	}
	names, _ := Branches(root) // one that cannot be listed can be adopted by itself
	for _, name := range names {
		if f, size, err := openJournal(At(root, name)); err == nil && f != nil {
			if h, valid, err := store.HashAt(f, 0, size); err == nil && valid {
				r.Journal.Begin(h)
			}
			_ = f.Close()
		}
	}
}

// openJournal opens the journal of a machine in files, which the caller closes. It is nil where there is none.
func openJournal(place Place) (journal *os.File, size int64, err error) {
	root, err := rootfs.OpenBelow(place.Dir(), DirName, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, refusal.Folder(err)
	}
	defer root.Close()
	f, err := root.Open("journal.jsonl")
	if err != nil {
		return nil, 0, nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, 0, nil
	}
	return f, info.Size(), nil
}

// foreignShared is Foreign for a machine in a database.
func foreignShared(j *Judge) error {
	m, err := j.place.Open(StoreOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer m.Close()
	return j.Machine(m)
}
