package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// reviewing makes a machine whose task has four documents.
func reviewing(t *testing.T) *Store {
	t.Helper()
	s := fresh(t, still())
	do(t, s, create, claim, on(state.AskHuman, state.Holder, text(state.QuestionDoc, "May I? Please.\n")),
		on(state.Answer, state.Human, text(state.AnswerDoc, "You may.\n")), on(state.CheckPassed, state.Engine, nil),
		on(state.Submit, state.Holder, text(state.SubmissionDoc, "Built.\n")))
	return s
}

func TestAnEditedViewIsPutBackAndJournalled(t *testing.T) {
	t.Parallel()
	views := []string{stateFile, "TASK.md", "SUBMISSION.md", "QUESTION.md", "ANSWER.md"}
	edits := map[string]func(t *testing.T, path string) (copied string){
		"edited": func(t *testing.T, path string) string {
			text := strings.NewReplacer("Reviewing", "Complete", ".\n", "?\n").Replace(read(t, path))
			write(t, path, text)
			return text
		},
		"replaced": func(t *testing.T, path string) string {
			write(t, path+".mine", "Do as you like.\n")
			if err := os.Rename(path+".mine", path); err != nil {
				t.Fatal(err)
			}
			return "Do as you like.\n"
		},
		"removed": func(t *testing.T, path string) string {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			return ""
		},
	}
	for _, name := range views {
		for how, edit := range edits {
			for _, who := range []string{"the same process", "another"} {
				t.Run(name+" "+how+", "+who, func(t *testing.T) {
					s := reviewing(t)
					before := pack(t, s.dir)
					copied := edit(t, s.Path(name))
					if who == "another" {
						s = reopen(t, s)
					}
					after := do(t, s, nothing)
					want := 1
					if name == stateFile && how == "removed" {
						want = 0 // it may have been lost
					}
					list := events(t, s)
					if got := len(list) - 6; got != want || want == 1 && list[6] != state.Violation {
						t.Fatalf("events %v", list)
					}
					if name != stateFile && read(t, s.Path(name)) != before[name] {
						t.Error("it was not put back")
					}
					if want == 1 && !strings.Contains(after.Top.Note, name) {
						t.Errorf("the note is %q", after.Top.Note)
					}
					kept := s.Path(logDir, editedName(name, 7))
					if copied != "" && read(t, kept) != copied {
						t.Error("the copy is not what was found")
					}
					if copied != "" && !strings.Contains(after.Top.Note, filepath.Base(kept)) {
						t.Errorf("the note does not name the copy: %q", after.Top.Note)
					}
					if do(t, s, nothing); len(events(t, s)) != 6+want {
						t.Error("it was journalled again")
					}
				})
			}
		}
	}
}

func TestEditsFoundTogetherAreOneLine(t *testing.T) {
	t.Parallel()
	s := reviewing(t)
	write(t, s.Path("TASK.md"), "a")
	write(t, s.Path("ANSWER.md"), "b")
	write(t, s.Path("REVIEW.md"), "c") // the task has none
	os.RemoveAll(s.Path(logDir))
	after := do(t, s, nothing)
	for _, name := range []string{"TASK.md", "ANSWER.md", "REVIEW.md"} {
		if kept := editedName(name, 7); read(t, s.Path(logDir, kept)) == "" || !strings.Contains(after.Top.Note, kept) {
			t.Errorf("%s is not in the note %q", kept, after.Top.Note)
		}
	}
	if _, err := os.Stat(s.Path("REVIEW.md")); err == nil {
		t.Error("a document that the task has not got is still there")
	}
	if _, lines, err := sound(s); err != nil || len(lines) != 7 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestARefusedEventStillPutsBack(t *testing.T) {
	t.Parallel()
	s := reviewing(t)
	write(t, s.Path("TASK.md"), "Do nothing.\n")
	if _, err := s.Apply(context.Background(), claim); err == nil {
		t.Fatal("a claim in Reviewing")
	}
	if read(t, s.Path("TASK.md")) != "Build it.\n" {
		t.Error("TASK.md was not put back")
	}
}

func TestWhatAPowerCutEmptiedIsNoEdit(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "NULs": "\x00\x00\x00"} {
		s := reviewing(t)
		write(t, s.Path("TASK.md"), text)
		write(t, s.Path("ANSWER.md"), text)
		if _, lines, err := sound(s); err != nil || len(lines) != 6 {
			t.Errorf("%s: %d lines, %v", name, len(lines), err)
		}
	}
}

// TestViewsThatLagFarBehindAreNoEdit has a document that could not be written for a long time.
func TestViewsThatLagFarBehindAreNoEdit(t *testing.T) {
	t.Parallel()
	s := reviewing(t)
	if err := os.Mkdir(s.Path("SUBMISSION.md.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, s.Path("SUBMISSION.md.tmp", "x"), "")
	do(t, s, on(state.Reject, state.Supervisor, text(state.SubmissionDoc, "Rejected.\n")))
	for range 12 {
		do(t, s, on(state.CheckVoid, state.Engine, nil))
		if _, err := renew(s); code(err) != refusal.StoreError {
			t.Fatalf("a renewal that could not be written: %v", err)
		}
	}
	os.RemoveAll(s.Path("SUBMISSION.md.tmp"))
	again := reopen(t, s)
	if _, lines, err := sound(again); err != nil || len(lines) != 19 {
		t.Errorf("%d lines, %v: %v", len(lines), err, events(t, again))
	}
}

// TestAnEditThatCannotBePutBackIsJournalledOnce: a full disk may leave space for lines and none for generated files.
func TestAnEditThatCannotBePutBackIsJournalledOnce(t *testing.T) {
	t.Parallel()
	s := reviewing(t)
	write(t, s.Path("TASK.md"), "Do nothing.\n")
	must(0, os.MkdirAll(s.Path("TASK.md.tmp", "x"), 0o700))
	for range 3 {
		do(t, s, on(state.Repair, state.Human, nil))
	}
	os.RemoveAll(s.Path("TASK.md.tmp"))
	if _, lines, err := sound(reopen(t, s)); err != nil || len(lines) != 6+1+3 {
		t.Errorf("%v: %v", err, events(t, s))
	}
}

func TestNoSymbolicLinkIsFollowed(t *testing.T) {
	names := []string{stateFile, stateFile + ".tmp", lockFile, journalFile, "TASK.md", "TASK.md.tmp", "REVIEW.md",
		"REVIEW.md.tmp", logDir, liveDir, archiveDir, "live/5e55.lock"}
	for _, name := range names {
		for _, target := range []string{"dangling", "file", "folder", "inside"} {
			t.Run(name+" to "+target, func(t *testing.T) {
				t.Parallel()
				s := fresh(t, still())
				do(t, s, create, claim, on(state.CheckPassed, state.Engine, nil),
					on(state.Submit, state.Holder, text(state.SubmissionDoc, "Built.\n")))
				outside := t.TempDir()
				to := filepath.Join(outside, "target")
				switch target {
				case "file":
					write(t, to, "theirs")
				case "folder":
					to = outside
				case "inside":
					to = "worktrees"
					must(0, os.Mkdir(s.Path(to), 0o700))
				}
				must(0, os.RemoveAll(s.Path(name)))
				must(0, os.Symlink(to, s.Path(name)))
				exercise(s)
				if again, _, err := Create(s.dir, still()); err == nil {
					exercise(again)
					again.Close()
				} else if code(err) == "" || !strings.Contains(err.Error(), ";") {
					t.Errorf("an error without advice: %v", err)
				}
				want := map[string]string{"file": "target"}[target]
				if got := listing(t, outside); got != want {
					t.Errorf("outside there is %q, want %q", got, want)
				}
				if target == "file" && read(t, to) != "theirs" {
					t.Error("a file outside was written")
				}
				if target == "inside" && listing(t, s.Path(to)) != "" {
					t.Errorf("the link was followed inside: %s", listing(t, s.Path(to)))
				}
			})
		}
	}
}

// TestATemporaryFileIsMadeNew has hard links where temporary files go, to a file outside.
func TestATemporaryFileIsMadeNew(t *testing.T) {
	t.Parallel()
	s := fresh(t, still())
	do(t, s, create, claim, on(state.CheckPassed, state.Engine, nil),
		on(state.Submit, state.Holder, text(state.SubmissionDoc, "Built.\n")))
	outside := filepath.Join(t.TempDir(), "theirs")
	write(t, outside, "theirs")
	for _, name := range []string{stateFile, "REVIEW.md"} {
		must(0, os.Link(outside, s.Path(name+".tmp")))
	}
	exercise(s)
	if _, _, err := sound(s); err != nil || read(t, outside) != "theirs" {
		t.Errorf("outside there is %q: %v", read(t, outside), err)
	}
}

// exercise does everything that writes.
func exercise(s *Store) {
	snap, err := apply(on(state.Reject, state.Supervisor, text(state.ReviewDoc, "No.\n")))(s)
	if err != nil {
		snap, _ = s.View()
	}
	_, _ = renew(s)
	_ = os.WriteFile(s.Path("SUBMISSION.md"), []byte("edited"), 0o600)
	_, _ = apply(nothing)(s)
	_ = archive(s.disk, s, snap)
	s.Probe("5e55")
	if live, err := s.Announce("5e55"); err == nil {
		live.Close()
	}
}

// listing lists a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	for _, e := range must(os.ReadDir(dir)) {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestALinkedFolderIsNotOurs(t *testing.T) {
	t.Parallel()
	elsewhere, dir := t.TempDir(), filepath.Join(t.TempDir(), ".ferrus")
	must(0, os.Symlink(elsewhere, dir))
	backup := filepath.Join(t.TempDir(), "journal")
	write(t, backup, "")
	opts := still()
	opts.Backup = func() string { return backup }
	if _, _, err := Create(dir, opts); code(err) != refusal.StoreError {
		t.Errorf("Create: %v", err)
	}
	if got := listing(t, elsewhere); got != "" {
		t.Errorf("the folder that the link names has %s", got)
	}
}
