package branch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// TestABranchGoesOnByItself: what happens on a branch does not touch the machine that it came from, nor its files. S2-18.
func TestABranchGoesOnByItself(t *testing.T) {
	p := enginetest.Repository(t, enginetest.Gate("true"))
	p.Begun()
	p.Write("code.txt", "two\n")
	p.Write("new.txt", "untracked\n")
	before := enginetest.JournalText(t, p.Dir)
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"try.1", "try.2"}})

	one, two := p.On("try.1"), p.On("try.2")
	if one.Read("code.txt") != "two\n" || two.Read("new.txt") != "untracked\n" {
		t.Error("a branch begins with other files than the project has")
	}
	done := one.Does("code.txt", "three\n")
	if done.Task.State != state.Complete || done.Task.Branch != "try.1" {
		t.Errorf("%+v", done.Task)
	}
	if now := enginetest.WantState(t, h, state.Executing); now.Task.ClaimedBy == "" {
		t.Error("the project's holder is fenced")
	}
	enginetest.WantState(t, two.Human(), state.Executing)
	if enginetest.JournalText(t, p.Dir) != before {
		t.Error("the project's journal is another one")
	}
	if p.Read("code.txt") != "two\n" || two.Read("code.txt") != "two\n" {
		t.Error("files of others have changed")
	}
}

// TestWhereABranchBegins: at an entry it is as the task was there, with its files; with a task of its own it has what the
// task under way began with.
func TestWhereABranchBegins(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.AllKept(ex)
	green := enginetest.WantState(t, h, state.Checking)
	p.Write("code.txt", "astray\n")
	enginetest.Must(ex.AskHuman(t.Context(), "Go on?", nil))(t)

	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, At: green.Task.Seq})
	enginetest.Branched(t, h, branch.Fork{Names: []string{"own"}, Own: true})
	enginetest.Branched(t, h, branch.Fork{Names: []string{"here"}})
	for name, want := range map[string]struct {
		state state.State
		text  string
	}{"alt": {state.Checking, "one\n"}, "own": {state.Idle, "one\n"}, "here": {state.AwaitingHuman, "astray\n"}} {
		b := p.On(name)
		now := enginetest.WantState(t, b.Human(), want.state)
		if b.Read("code.txt") != want.text || now.Task.ClaimedBy != "" {
			t.Errorf("%s: %q, %+v", name, b.Read("code.txt"), now.Task)
		}
	}
	if _, err := branch.Create(t.Context(), h, branch.Fork{Names: []string{"alt"}}); refusal.CodeOf(err) != refusal.InvalidInput {
		t.Errorf("made twice: %v", err)
	}
	// A branch rolls back to what it shares with its parent.
	b := p.On("alt").Human()
	first := green.Task.Seq - 1
	if got := enginetest.Must(b.RollbackFiles(t.Context(), first, "Again.", nil))(t); got.Task.State != state.Executing {
		t.Errorf("%+v", got.Task)
	}
}

// TestAMergeBringsInWhatWasApproved, beside what the project has changed meanwhile, and completes the task that was branched.
func TestAMergeBringsInWhatWasApproved(t *testing.T) {
	enginetest.InFiles(t, "it removes the copy of journal.jsonl")
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}})
	alt := p.On("alt")
	alt.Does("new.txt", "new\n")
	p.Write("code.txt", "edited\n")
	index := p.Git("ls-files", "-s")

	got, err := branch.Merge(t.Context(), h, alt.Human(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Read("new.txt") != "new\n" || p.Read("code.txt") != "edited\n" || p.Git("ls-files", "-s") != index {
		t.Errorf("merged %+v", got.Files)
	}
	if got.Checks == nil || got.Task.State != state.Complete || got.Task.Submission.Tree != got.Tree {
		t.Errorf("%+v", got)
	}
	if alt.Read("code.txt") != "one\n" {
		t.Error("the branch's files have changed")
	}
	if _, err := ex.Submit(t.Context(), enginetest.Work, enginetest.Brief); refusal.CodeOf(err) != refusal.LeaseLost {
		t.Errorf("the holder of before: %v", err)
	}
	if now := enginetest.WantState(t, alt.Human(), state.Complete); now.Task.Merged != got.Tree {
		t.Errorf("%+v", now.Task)
	}
	if _, err := branch.Merge(t.Context(), h, alt.Human(), nil); refusal.CodeOf(err) != refusal.WrongState {
		t.Errorf("merged twice: %v", err)
	}
	link := project.At(p.Dir, "alt").Backup()
	p.Remove(link)
	p.Write(link, p.Read(".ferrus/journal.jsonl"))
	if _, err := branch.Remove(t.Context(), h, "alt", false); err != nil {
		t.Fatal(err)
	}
	if kept, _ := fs.Glob(os.DirFS(filepath.Dir(link)), filepath.Base(link)+".*"); len(kept) != 1 || p.Exists(link) {
		t.Errorf("a copy that was another file is moved to %v", kept)
	}
	if p.Exists(".ferrus/branches/alt") || p.Exists(".ferrus/worktrees/alt") || strings.Contains(p.Git("branch", "-a"), "ferrus/alt") {
		t.Error("the branch is still there")
	}
	if refs := p.Git("for-each-ref", "refs/ferrus/alt"); refs != "" {
		t.Errorf("still kept:\n%s", refs)
	}
	p.Write(link, p.Read(".ferrus/journal.jsonl"))
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, Own: true}) // the name is free, whatever lies where its copy belongs
	here, there := enginetest.Must(os.Lstat(p.Path(".ferrus/branches/alt/journal.jsonl")))(t), enginetest.Must(os.Lstat(link))(t)
	if !os.SameFile(here, there) {
		t.Error("the journal of the new branch has no hard-linked copy")
	}
}

// TestAMergeThatDoesNotFitChangesNothing, whether git or the gate says so; its executor gets both sides to fix it.
func TestAMergeThatDoesNotFitChangesNothing(t *testing.T) {
	for _, c := range []struct{ why, gate, file, theirs, ours, fixed string }{
		{"git", "true", "code.txt", "theirs\n", "ours\n", "both\n"},
		{"the gate", "test ! -e a || test ! -e b", "a", "a\n", "", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := enginetest.Repository(t, enginetest.Gate(c.gate))
			h := p.Human()
			enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, Own: true})
			alt := p.On("alt")
			enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
			alt.Does(c.file, c.theirs)
			if c.ours != "" {
				p.Write("code.txt", c.ours)
			} else {
				p.Write("b", "b\n")
			}
			before, journals := p.Files(), enginetest.JournalText(t, p.Dir)
			_, err := branch.Merge(t.Context(), h, alt.Human(), nil)
			clash, ok := err.(*branch.ConflictError)
			if !ok || clash.Code != refusal.Conflict || len(clash.Conflicts)+len(clash.Failures) != 1 {
				t.Fatalf("%v", err)
			}
			if got := p.Files(); !slices.Equal(got, before) || enginetest.JournalText(t, p.Dir) != journals {
				t.Errorf("changed to %q", got)
			}
			if alt.Read(c.file) != c.theirs || enginetest.WantState(t, alt.Human(), state.Complete).Task.Merged != "" {
				t.Error("the branch is not as it was")
			}
			enginetest.Must(branch.Resolve(t.Context(), h, alt.Human(), clash))(t)
			enginetest.WantState(t, alt.Human(), state.Addressing)
			if c.fixed == "" {
				alt.Remove("b")
			} else {
				ex := alt.Executor("codex")
				enginetest.Claim(t, ex)
				enginetest.Check(t, ex, state.CheckGreen)
				_, err := ex.Submit(t.Context(), enginetest.Work, kit.Patience)
				enginetest.Refused(t, err, refusal.Conflict, "code.txt:1 code.txt:5", "check and submit")
				enginetest.WantState(t, ex, state.Checking)
				enginetest.Dies(t, ex)
				alt.Write("doc.txt", "<<<<<<< ours\n=======\n>>>>>>> theirs\n") // ferrus has not written these
			}
			alt.Does(c.file, c.fixed+"fixed\n")
			if _, err := branch.Merge(t.Context(), h, alt.Human(), nil); err != nil {
				t.Fatal(err)
			}
			if got := p.Read(c.file); got != c.fixed+"fixed\n" {
				t.Errorf("merged %q", got)
			}
		})
	}
}

// TestAMergeGoesOnBesideAPersonWhoEdits: what is edited in the project while the gate runs stays, and is judged with the merge if it is in
// a file that the merge changes.
func TestAMergeGoesOnBesideAPersonWhoEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file  string // which is edited with each run of the gate
		runs  int
		edits string // what is there then
	}{
		{"notes.txt", 1, "edit\n"},
		{"long.txt", 3, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			top := "../../../" // from the work tree of the branch
			p := enginetest.Repository(t, enginetest.Gate("! test -e "+top+"judge || { echo >>"+top+"judge; echo edit >>"+top+c.file+"; }"))
			long := strings.Repeat("line\n", 9)
			p.Write("long.txt", long)
			p.Write(".gitignore", "judge\n")
			h := p.Human()
			enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, Own: true})
			alt := p.On("alt")
			enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
			alt.Does("long.txt", "first\n"+long)
			p.Write("other.txt", "the project has moved on\n")
			p.Write("judge", "")
			_, err := branch.Merge(t.Context(), h, alt.Human(), nil)
			if got := p.Read("judge"); len(got) != c.runs {
				t.Errorf("the gate has judged %d times", len(got))
			}
			if c.runs > 1 {
				enginetest.Refused(t, err, refusal.TreeChanged, "let who edits them finish")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Read("long.txt"); got != "first\n"+long {
				t.Errorf("merged %q", got)
			}
			if got := p.Read(c.file); got != c.edits {
				t.Errorf("edited %q", got)
			}
		})
	}
}

// TestMarksOfAConflictAreNotMerged although they were approved.
func TestMarksOfAConflictAreNotMerged(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	h := p.Human()
	enginetest.Branched(t, h, branch.Fork{Names: []string{"alt"}, Own: true})
	alt := p.On("alt")
	enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
	mark := strings.Repeat("1", 40)
	alt.Does("code.txt", "one\n<<<<<<< "+mark+"\n")
	_, err := alt.Human().Engine().Store().Apply(t.Context(), func(now store.Snapshot) (*store.Change, error) {
		next, err := state.Step(now.Task, state.Select, state.Human, state.Limits{})
		next.Marks = []string{mark}
		return &store.Change{Actor: store.Actor{Role: state.Human}, Event: state.Select, Next: next}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = branch.Merge(t.Context(), h, alt.Human(), nil)
	enginetest.Refused(t, err, refusal.Conflict, "code.txt:2", "ferrus reopen --branch alt")
	if got := p.Read("code.txt"); strings.Contains(got, mark) {
		t.Errorf("merged %q", got)
	}
}

// TestTheNoteOfARemovalIsNoPath: what stands in it becomes a part of names.
func TestTheNoteOfARemovalIsNoPath(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	on := project.At(p.Dir, "alt")
	for text, want := range map[string]string{
		"alt@20260102T030405.000\n": "alt@20260102T030405.000", "alt@20260102T030405.000": "", "../../outside\n": "",
		"alt@../../outside\n": "", "other@20260102T030405.000\n": "", "alt@20260102T030405.000/..\n": "",
	} {
		p.Write(".ferrus/branches/alt/removing", text)
		if got := branch.KeptName(on); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
