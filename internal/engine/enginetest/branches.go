package enginetest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// On returns the project as it is on a branch: its sessions are there, and its files are those of its work tree.
func (p *Machine) On(name string) *Machine {
	p.T.Helper()
	b := *p
	b.Branch = name
	b.Dir = project.At(p.Dir, name).Work
	b.Root = p.Dir
	return &b
}

// Does has an executor write a file, and check and submit; then the supervisor approves.
func (p *Machine) Does(name, text string) store.Snapshot {
	p.T.Helper()
	t := p.T.(*testing.T)
	ex, sup := p.Executor("codex"), p.Supervisor()
	Claim(t, ex)
	p.Write(name, text)
	Submitted(t, ex)
	Must2(sup.Review(t.Context()))(t)
	return Must(sup.Approve(t.Context(), "Good.", ""))(t).Snapshot
}

// Files are the files of the project's work tree with their texts.
func (p *Machine) Files() []string {
	p.T.Helper()
	var list []string
	for _, name := range strings.Fields(p.Git("ls-files", "-co", "-x", ".ferrus")) {
		list = append(list, fmt.Sprintf("%s: %s", name, p.Read(name)))
	}
	return list
}

// Person edits, in the project and, where it has a work tree, on the branch.
func (p *Machine) Person(t *testing.T) {
	p.Write("person.txt", "mine\n")
	if alt := p.On("alt"); p.Exists(".ferrus/worktrees/alt/.git") && p.Exists(".ferrus/branches/alt") {
		alt.Write("person.txt", "mine\n")
	}
}

// Users is what ferrus has no business with: index, HEAD, stash, branches and ignored files.
func (p *Machine) Users() string {
	index, err := os.ReadFile(p.Path(".git/index"))
	if err != nil {
		p.T.Fatal(err)
	}
	refs := slices.DeleteFunc(strings.SplitAfter(p.Git("for-each-ref", "refs/heads", "refs/tags", "refs/stash"), "\n"),
		func(line string) bool { return strings.Contains(line, "refs/heads/ferrus/") })
	return fmt.Sprintf("%x\n%s%s%s%s", index, p.Read(".git/HEAD"), p.Git("stash", "list"), strings.Join(refs, ""), p.Read("ignored"))
}

// Looked demands that what was cut off can be looked at, and says what finishes it.
func (p *Machine) Looked(h *engine.Session) {
	p.T.Helper()
	now := View(p.T, h)
	names, err := project.Branches(p.Dir)
	if err != nil {
		p.T.Fatal(err)
	}
	for _, a := range branch.Attempts(context.Background(), h.Engine(), names) {
		if a.Error != "" && !strings.Contains(a.Error, "--remove alt --force finishes it") {
			p.T.Errorf("%s: %s", a.Branch, a.Error)
		}
	}
	if now.Task.Returning.From != "" {
		_, err := branch.Remove(context.Background(), h, "alt", true)
		Refused(p.T, err, refusal.WrongState, "ferrus merge alt finishes that")
	}
}

// Tidy demands that nothing is left of what was tried.
func (p *Machine) Tidy() {
	p.T.Helper()
	names, err := project.Branches(p.Dir)
	if err != nil {
		p.T.Fatal(err)
	}
	entries, err := os.ReadDir(p.Path(".ferrus/branches"))
	if err != nil {
		p.T.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(names, e.Name()) {
			p.T.Errorf("a draft is left: %s", e.Name())
		}
	}
	var trees []string
	for _, e := range Must(os.ReadDir(p.Path(".ferrus/worktrees")))(p.T) {
		trees = append(trees, e.Name())
	}
	if !slices.Equal(trees, names) {
		p.T.Errorf("work trees %q of branches %q", trees, names)
	}
	if list := p.Git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1+len(names) || strings.Contains(list, "locked") || strings.Contains(list, "prunable") {
		p.T.Errorf("work trees of git:\n%s", list)
	}
	if refs := p.Git("for-each-ref", "refs/ferrus"); strings.Contains(refs, "/merging") {
		p.T.Errorf("a merge is still marked:\n%s", refs)
	}
	if now := View(p.T, p.Human()); now.Task.Returning != (state.FileMove{}) {
		p.T.Errorf("the project is still in the middle of it: %+v", now.Task.Returning)
	}
}

// Disk is what lies there, but for what git ignores and what the person of the test has edited.
func (p *Machine) Disk() map[string]string {
	got := p.All()
	delete(got, "person.txt")
	return got
}

// All is all that lies there, but for what git ignores.
func (p *Machine) All() map[string]string {
	got := p.Contents()
	delete(got, ".git")
	return got
}

// As makes a file of the project what it is on the branch.
func (p *Machine) As(alt *Machine, file string) {
	p.T.Helper()
	info, err := os.Lstat(alt.Path(file))
	if err != nil || info.IsDir() {
		p.Remove(file)
		_ = os.Remove(filepath.Dir(p.Path(file))) // the last of its folder
		return
	}
	p.Write(file, alt.Read(file))
}

// files are the files of the work, but for what is the user's own.
func (p *Machine) Contents() map[string]string {
	got := map[string]string{}
	err := filepath.WalkDir(p.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == ".ferrus") {
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(p.Dir, path); !e.IsDir() && rel != "ignored" {
			got[rel] = p.Read(rel)
		}
		return nil
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return got
}

// Papers are the documents of pauses, as they lie there.
func (p *Machine) Papers() map[state.Doc]string {
	got := map[state.Doc]string{}
	for _, doc := range []state.Doc{state.ConsultRequestDoc, state.ConsultResponseDoc, state.QuestionDoc, state.AnswerDoc} {
		if name := ".ferrus/" + string(doc); p.Exists(name) {
			got[doc] = p.Read(name)
		}
	}
	return got
}

// Nested has a consultation with a question of the supervisor's on top of it, and another after that, each answered. It
// returns the entries by what was open then, and what the documents were.
func (p *Machine) Nested(sup, ex, h *engine.Session) (at map[string]uint64, papers map[string]map[state.Doc]string) {
	p.T.Helper()
	ctx := p.T.Context()
	at, papers = map[string]uint64{}, map[string]map[state.Doc]string{}
	note := func(name string) {
		at[name], papers[name] = View(p.T, h).Task.Seq, p.Papers()
	}
	for _, round := range []string{"first", "second"} {
		Must(ex.Consult(ctx, engine.Consulting{Problem: round, Tried: "Both.", Question: "Which?", Options: []string{"left", "right"}}))(p.T)
		note(round + ": consultation")
		Must(sup.AwaitReview(ctx, kit.Patience))(p.T)
		Must(sup.AskHuman(ctx, round+" question?", nil))(p.T)
		note(round + ": both")
		Must(h.Answer(ctx, "", round+" answer."))(p.T)
		note(round + ": question answered")
		Must2(sup.AwaitAnswer(ctx, kit.Patience))(p.T)
		Must(sup.Respond(ctx, round+" response.", ""))(p.T)
		note(round + ": consultation answered")
		Must2(ex.AwaitResponse(ctx, kit.Patience))(p.T)
		note(round + ": none")
	}
	return at, papers
}

// Branched makes branches.
func Branched(t testing.TB, h *engine.Session, f branch.Fork) []project.Place {
	t.Helper()
	made, err := branch.Create(t.Context(), h, f)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// JournalText returns the journal of the project in dir.
func JournalText(t testing.TB, dir string) string {
	t.Helper()
	return sharedtest.Journal(t, dir, "")
}
