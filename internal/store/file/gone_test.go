package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
)

func TestAFolderThatWasTakenAwayIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(s *Store) error{
		"the lock deleted":    func(s *Store) error { return os.Remove(s.Path(lockFile)) },
		"the lock replaced":   func(s *Store) error { return replaced(s.Path(lockFile)) },
		"the folder deleted":  func(s *Store) error { return os.RemoveAll(s.dir) },
		"the folder replaced": func(s *Store) error { return errors.Join(os.RemoveAll(s.dir), os.Mkdir(s.dir, 0o700)) },
		"the folder moved into another": func(s *Store) error {
			err := errors.Join(os.Rename(s.dir, s.dir+".old"), os.Mkdir(s.dir, 0o700))
			for _, e := range must(os.ReadDir(s.dir + ".old")) {
				err = errors.Join(err, os.Rename(filepath.Join(s.dir+".old", e.Name()), s.Path(e.Name())))
			}
			return err
		},
		"the folder emptied": func(s *Store) error { return errors.Join(emptied(s.dir)...) },
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, still())
			do(t, s, create, claim)
			if err := take(s); err != nil {
				t.Fatal(err)
			}
			left := listing(t, filepath.Dir(s.dir))
			_, err := apply(progress)(s)
			wantCode(t, err, refusal.StoreGone, "ferrus doctor")
			wantCode(t, second(renew(s)), refusal.StoreGone)
			if _, err := s.View(); err != nil && code(err) != refusal.StoreGone {
				t.Errorf("View: %v", err)
			}
			if got := listing(t, filepath.Dir(s.dir)); got != left {
				t.Errorf("there is %s, was %s", got, left)
			}
			if _, err := os.Stat(s.Path(journalFile)); err == nil && !strings.HasPrefix(name, "the lock") && !strings.Contains(name, "moved") {
				t.Error("a journal was made")
			}
		})
	}
}

func replaced(path string) error {
	return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
}

func emptied(dir string) (errs []error) {
	for _, e := range must(os.ReadDir(dir)) {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return errs
}

func TestTheHardLinkedCopyRestoresTheJournal(t *testing.T) {
	t.Parallel()
	opts := still()
	backup := filepath.Join(t.TempDir(), "git", "journal.jsonl")
	opts.Backup = func() string { return backup }
	s := fresh(t, opts)
	do(t, s, create, claim)
	journal := read(t, s.Path(journalFile))
	must(0, os.RemoveAll(s.dir))
	if Initialised(s.dir) {
		t.Error("a machine that is gone is initialised")
	}
	again, restored, err := Create(s.dir, opts)
	if err != nil || !restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	defer again.Close()
	if got := view(t, again); got.Task.Epoch != 1 || read(t, again.Path(journalFile)) != journal {
		t.Errorf("the journal is not the same: line %d", got.Task.Seq)
	}
	do(t, again, progress)
	if read(t, backup) != read(t, again.Path(journalFile)) {
		t.Error("the hard-linked copy is not linked to the restored journal")
	}
	must(0, os.Remove(again.Path(journalFile)))
	wantCode(t, second(apply(progress)(again)), refusal.NotInitialised, "hard-linked copy")
}

func TestTheCopyOfAnotherMachineIsSaved(t *testing.T) {
	t.Parallel()
	opts := still()
	backup := filepath.Join(t.TempDir(), "journal.jsonl")
	opts.Backup = func() string { return backup }
	s := fresh(t, still()) // has a journal of its own
	do(t, s, create)
	write(t, backup, "theirs")
	again, restored, err := Create(s.dir, opts)
	if err != nil || restored {
		t.Fatalf("restored %v, %v", restored, err)
	}
	defer again.Close()
	kept, _ := filepath.Glob(backup + ".*")
	if len(kept) != 1 || read(t, kept[0]) != "theirs" || read(t, backup) != read(t, s.Path(journalFile)) {
		t.Errorf("kept %v", kept)
	}
}

func TestAJournalThatIsLostIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, create)
	must(0, os.Remove(s.Path(journalFile)))
	wantCode(t, second(apply(claim)(s)), refusal.NotInitialised, "ferrus init")
	_, _, err := Create(s.dir, still())
	wantCode(t, err, refusal.Corrupt, "ferrus doctor")
}

func TestOpenSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none"), still())
	wantCode(t, err, refusal.NotInitialised, "ferrus init")
	write(t, filepath.Join(dir, "file"), "")
	_, err = Open(filepath.Join(dir, "file"), still())
	wantCode(t, err, refusal.StoreError, "not a folder")
}

// TestALeaseIsNotInherited rolls a STATE.json forward over a change of hands.
func TestALeaseIsNotInherited(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, create, claim)
	if _, err := renew(s); err != nil {
		t.Fatal(err)
	}
	if got := view(t, reopen(t, s)).Lease; got != renewed {
		t.Errorf("the lease is %+v", got)
	}
	same := read(t, s.Path(stateFile))
	do(t, s, progress)
	write(t, s.Path(stateFile), same)
	if got := view(t, reopen(t, s)).Lease; got != renewed {
		t.Errorf("the same holder lost its term: %+v", got)
	}
	do(t, s, claim)
	write(t, s.Path(stateFile), same)
	if got := view(t, reopen(t, s)).Lease; got != (store.Lease{}) {
		t.Errorf("the next holder has the term of the last: %+v", got)
	}
}

func TestTheSessionThatHoldsTheWorkIsNotSweptAway(t *testing.T) {
	t.Parallel()
	const holder, old = "0b5e1d0c-6f6b-4f0e-9d3a-000000000001", "0b5e1d0c-6f6b-4f0e-9d3a-000000000002"
	s := fresh(t, Options{Log: quiet})
	do(t, s, create, func(now store.Snapshot) (*store.Change, error) {
		c, err := claim(now)
		c.Next.Session = holder
		return c, err
	})
	for _, session := range []string{holder, old} {
		live := must(s.Announce(session))
		live.Close()
		past := time.Now().Add(-2 * staleLive)
		must(0, os.Chtimes(s.Path(liveDir, session+".lock"), past, past))
	}
	must(s.Announce("5e55")).Close()
	if got := s.Probe(holder); got != lease.Gone {
		t.Errorf("the holder, which has ended: %s", got)
	}
	if got := s.Probe(old); got != lease.Unknown {
		t.Errorf("a session of old: %s", got)
	}
}

// TestAWatcherWorksInAFolderThatCannotBeWatched waits for the tick.
func TestAWatcherWorksInAFolderThatCannotBeWatched(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	must(0, os.RemoveAll(s.dir))
	bell := s.Watch()
	defer bell.Close()
	<-bell.C
}

func TestAnArchiveIsMadeAgainUntilItIsWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(quick(t), ".ferrus")
	_, d := along(t, scenarioOf(t, "reopen"), dir)
	for n, ended := 1, false; !ended; n++ {
		f := &faults{kind: eio, at: n, under: d.clone()}
		opts := still()
		opts.disk = f.over
		s, err := Open(dir, opts)
		if err != nil {
			continue
		}
		snap, err := s.View()
		if err == nil {
			err = archive(s.disk, s, snap)
		}
		ended = n > len(f.ops)
		opts.disk = f.under.over
		s = must(Open(dir, opts))
		snap = view(t, s)
		id := snap.Task.TaskID
		if (err == nil) != archived(s.disk, id) {
			t.Fatalf("fault at %d of %v: %v, archived %v", n, f.ops, err, archived(s.disk, id))
		}
		if err := archive(s.disk, s, snap); err != nil {
			t.Fatalf("again: %v", err)
		}
		for name, want := range map[string]string{"TASK.md": "Build it.\n", "SUBMISSION.md": "Built.\n", journalFile: peek(s, journalFile)} {
			if got := peek(s, archiveDir+"/"+id+"/"+name); got != want {
				t.Errorf("fault at %d of %v: %s is %q", n, f.ops, name, got)
			}
		}
	}
}

func TestCheckText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]refusal.Code{"fine\n": "", "": refusal.InvalidInput, " \n": refusal.InvalidInput, "a\x00": refusal.InvalidInput,
		"\xff": refusal.InvalidInput, "12345678901": refusal.TooLarge, "1234567890": ""} {
		if err := store.CheckText("the note", text, 10); code(err) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTextsAreKeptToTheByte: all that a reader can see, and marks for what none can.
func TestTextsAreKeptToTheByte(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	for sent, want := range map[string]string{"<a>&\n\t\"\\": "<a>&\n\t\"\\", strings.Repeat("ö", store.MaxDoc/2): strings.Repeat("ö", store.MaxDoc/2),
		"\u2028\U000e0041\ufffd end\u202e": "<U+2028><U+E0041>\ufffd end<U+202E>"} {
		snap := do(t, s, func(now store.Snapshot) (*store.Change, error) {
			return &store.Change{Event: state.Repair, Next: now.Task, Docs: text(state.TaskDoc, sent), Note: "a\ufe01b"}, nil
		})
		again := reopen(t, s)
		got, err := store.Text(again, view(t, again), state.TaskDoc)
		if err != nil || got != want || read(t, s.Path("TASK.md")) != want {
			t.Errorf("%.20q came back as %.20q: %v", want, got, err)
		}
		if l, err := again.LineAt(snap.Journal.Last); err != nil || l.H != snap.Journal.H || l.Note != "a<U+FE01>b" {
			t.Errorf("LineAt: %v", err)
		}
	}
	for _, off := range []int64{-1, 1, 1 << 40} {
		if _, err := s.LineAt(off); code(err) != refusal.Corrupt {
			t.Errorf("LineAt(%d): %v", off, err)
		}
	}
	if _, err := os.Stat(s.Path("TASK.md.tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a temporary file stays")
	}
}
