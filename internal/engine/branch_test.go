package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/refusal"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// on returns the project as it is on a branch: its sessions are there, and its files are those of its work tree.
func (p *machine) on(name string) *machine {
	p.t.Helper()
	b := *p
	b.branch = name
	b.dir = project.At(p.dir, name).Work
	b.root = p.dir
	return &b
}

// branched makes branches.
func branched(t *testing.T, h *Session, f Fork) []project.Place {
	t.Helper()
	made, err := h.Branch(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// does has an executor write a file, and check and submit; then the supervisor approves.
func (p *machine) does(name, text string) store.Snapshot {
	p.t.Helper()
	t := p.t.(*testing.T)
	ex, sup := p.executor("codex"), p.supervisor()
	claim(t, ex)
	p.write(name, text)
	submitted(t, ex)
	must2(sup.Review(t.Context()))(t)
	return must(sup.Approve(t.Context(), "Good.", ""))(t).Snapshot
}

func journal(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, ".ferrus", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestABranchGoesOnByItself: what happens on a branch does not touch the machine that it came from, nor its files. S2-18.
func TestABranchGoesOnByItself(t *testing.T) {
	p := repository(t, gate("true"))
	p.begun()
	p.write("code.txt", "two\n")
	p.write("new.txt", "untracked\n")
	before := journal(t, p.dir)
	h := p.human()
	branched(t, h, Fork{Names: []string{"try.1", "try.2"}})

	one, two := p.on("try.1"), p.on("try.2")
	if one.read("code.txt") != "two\n" || two.read("new.txt") != "untracked\n" {
		t.Error("a branch begins with other files than the project has")
	}
	done := one.does("code.txt", "three\n")
	if done.Task.State != state.Complete || done.Task.Branch != "try.1" {
		t.Errorf("%+v", done.Task)
	}
	if now := wantState(t, h, state.Executing); now.Task.ClaimedBy == "" {
		t.Error("the project's holder is fenced")
	}
	wantState(t, two.human(), state.Executing)
	if journal(t, p.dir) != before {
		t.Error("the project's journal is another one")
	}
	if p.read("code.txt") != "two\n" || two.read("code.txt") != "two\n" {
		t.Error("files of others have changed")
	}
}

// TestWhereABranchBegins: at an entry it is as the task was there, with its files; with a task of its own it has what the
// task under way began with.
func TestWhereABranchBegins(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	h := p.human()
	check(t, ex, state.CheckGreen)
	allKept(ex)
	green := wantState(t, h, state.Checking)
	p.write("code.txt", "astray\n")
	must(ex.AskHuman(t.Context(), "Go on?", nil))(t)

	branched(t, h, Fork{Names: []string{"alt"}, At: green.Task.Seq})
	branched(t, h, Fork{Names: []string{"own"}, Own: true})
	branched(t, h, Fork{Names: []string{"here"}})
	for name, want := range map[string]struct {
		state state.State
		text  string
	}{"alt": {state.Checking, "one\n"}, "own": {state.Idle, "one\n"}, "here": {state.AwaitingHuman, "astray\n"}} {
		b := p.on(name)
		now := wantState(t, b.human(), want.state)
		if b.read("code.txt") != want.text || now.Task.ClaimedBy != "" {
			t.Errorf("%s: %q, %+v", name, b.read("code.txt"), now.Task)
		}
	}
	if _, err := h.Branch(t.Context(), Fork{Names: []string{"alt"}}); refusal.CodeOf(err) != refusal.InvalidInput {
		t.Errorf("made twice: %v", err)
	}
	// A branch rolls back to what it shares with its parent.
	b := p.on("alt").human()
	first := green.Task.Seq - 1
	if got := must(b.RollbackFiles(t.Context(), first, "Again.", nil))(t); got.Task.State != state.Executing {
		t.Errorf("%+v", got.Task)
	}
}

// TestAMergeBringsInWhatWasApproved, beside what the project has changed meanwhile, and completes the task that was branched.
func TestAMergeBringsInWhatWasApproved(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	h := p.human()
	branched(t, h, Fork{Names: []string{"alt"}})
	alt := p.on("alt")
	alt.does("new.txt", "new\n")
	p.write("code.txt", "edited\n")
	index := p.git("ls-files", "-s")

	got, err := h.Merge(t.Context(), alt.human(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.read("new.txt") != "new\n" || p.read("code.txt") != "edited\n" || p.git("ls-files", "-s") != index {
		t.Errorf("merged %+v", got.Files)
	}
	if got.Checks == nil || got.Task.State != state.Complete || got.Task.Submission.Tree != got.Tree {
		t.Errorf("%+v", got)
	}
	if alt.read("code.txt") != "one\n" {
		t.Error("the branch's files are not as they were")
	}
	if _, err := ex.Submit(t.Context(), work, brief); refusal.CodeOf(err) != refusal.LeaseLost {
		t.Errorf("the holder of before: %v", err)
	}
	if now := wantState(t, alt.human(), state.Complete); now.Task.Merged != got.Tree {
		t.Errorf("%+v", now.Task)
	}
	if _, err := h.Merge(t.Context(), alt.human(), nil); refusal.CodeOf(err) != refusal.WrongState {
		t.Errorf("merged twice: %v", err)
	}
	link := project.At(p.dir, "alt").Backup()
	p.remove(link)
	p.write(link, p.read(".ferrus/journal.jsonl"))
	if _, err := h.Remove(t.Context(), "alt", false); err != nil {
		t.Fatal(err)
	}
	if kept, _ := filepath.Glob(link + ".*"); len(kept) != 1 || p.exists(link) {
		t.Errorf("a copy that was another file is kept as %v", kept)
	}
	if p.exists(".ferrus/branches/alt") || p.exists(".ferrus/worktrees/alt") || strings.Contains(p.git("branch", "-a"), "ferrus/alt") {
		t.Error("the branch is still there")
	}
	if refs := p.git("for-each-ref", "refs/ferrus/alt"); refs != "" {
		t.Errorf("still kept:\n%s", refs)
	}
	p.write(link, p.read(".ferrus/journal.jsonl"))
	branched(t, h, Fork{Names: []string{"alt"}, Own: true}) // the name is free, whatever lies where its copy belongs
	here, there := must(os.Lstat(p.path(".ferrus/branches/alt/journal.jsonl")))(t), must(os.Lstat(link))(t)
	if !os.SameFile(here, there) {
		t.Error("the journal of the new branch has no hard-linked copy")
	}
}

// TestAMergeThatDoesNotFitChangesNothing, whether git or the gate says so; its executor gets both sides to mend it.
func TestAMergeThatDoesNotFitChangesNothing(t *testing.T) {
	for _, c := range []struct{ why, gate, file, theirs, ours, mended string }{
		{"git", "true", "code.txt", "theirs\n", "ours\n", "both\n"},
		{"the gate", "test ! -e a || test ! -e b", "a", "a\n", "", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := repository(t, gate(c.gate))
			h := p.human()
			branched(t, h, Fork{Names: []string{"alt"}, Own: true})
			alt := p.on("alt")
			must(alt.human().CreateTask(t.Context(), "Do it.", ""))(t)
			alt.does(c.file, c.theirs)
			if c.ours != "" {
				p.write("code.txt", c.ours)
			} else {
				p.write("b", "b\n")
			}
			before, journals := p.files(), journal(t, p.dir)
			_, err := h.Merge(t.Context(), alt.human(), nil)
			clash, ok := err.(*ConflictError)
			if !ok || clash.Code != refusal.Conflict || len(clash.Conflicts)+len(clash.Failures) != 1 {
				t.Fatalf("%v", err)
			}
			if got := p.files(); !slices.Equal(got, before) || journal(t, p.dir) != journals {
				t.Errorf("changed to %q", got)
			}
			if alt.read(c.file) != c.theirs || wantState(t, alt.human(), state.Complete).Task.Merged != "" {
				t.Error("the branch is not as it was")
			}
			must(h.Resolve(t.Context(), alt.human(), clash))(t)
			wantState(t, alt.human(), state.Addressing)
			if c.mended == "" {
				alt.remove("b")
			}
			alt.does(c.file, c.mended+"mended\n")
			if _, err := h.Merge(t.Context(), alt.human(), nil); err != nil {
				t.Fatal(err)
			}
			if got := p.read(c.file); got != c.mended+"mended\n" {
				t.Errorf("merged %q", got)
			}
		})
	}
}

// files are the files of the project's work tree with their texts.
func (p *machine) files() []string {
	p.t.Helper()
	var list []string
	for _, name := range strings.Fields(p.git("ls-files", "-co", "-x", ".ferrus")) {
		list = append(list, fmt.Sprintf("%s: %s", name, p.read(name)))
	}
	return list
}
