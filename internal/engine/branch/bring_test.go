package branch_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// away makes a branch with a task on the first of two computers, where an executor works on it.
func away(t *testing.T, toml string) (a, b *enginetest.Machine, host string, ex *engine.Session) {
	t.Helper()
	a, b, host = enginetest.Computers(t, toml)
	ex = branched(t, a, "alt")
	return a, b, host, ex
}

// branched makes a branch with a task, and an executor that has claimed it.
func branched(t *testing.T, a *enginetest.Machine, name string) *engine.Session {
	t.Helper()
	enginetest.Branched(t, a.Human(), branch.Fork{Names: []string{name}, Own: true})
	alt := a.On(name)
	enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
	ex := alt.Executor("codex")
	enginetest.Claim(t, ex)
	return ex
}

// fetch fetches the files of a branch, of a commit or for "" the newest.
func fetch(t *testing.T, b *enginetest.Machine, name, commit string) branch.Fetched {
	t.Helper()
	return enginetest.Must(branch.Fetch(t.Context(), b.Human(), name, commit))(t)
}

func diff(t *testing.T, e *engine.Engine, now store.Snapshot) string {
	t.Helper()
	tree := enginetest.Must(e.Tree(t.Context(), now))(t)
	id := enginetest.Must(tree.Fingerprint(t.Context()))(t)
	var text strings.Builder
	if err := tree.Patch(t.Context(), now.Task.BaseTree, id, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestASubmissionIsReviewedOnAnotherComputer: that has the same files, shows the same patch, and approves.
func TestASubmissionIsReviewedOnAnotherComputer(t *testing.T) {
	a, b, host, ex := away(t, enginetest.Gate("true")+"[branches]\nsetup = \"echo up >>ignored\"\n")
	alt := a.On("alt")
	alt.Write("code.txt", "two\n")
	alt.Write("new/file.txt", "new\n")
	alt.Remove("keep.txt")
	if _, err := b.On("alt").Human().Engine().Tree(t.Context(), enginetest.View(t, b.On("alt").Human())); refusal.CodeOf(err) != refusal.WrongState ||
		!strings.Contains(err.Error(), "ferrus branch --fetch alt") {
		t.Fatal(err)
	}
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.Submitted(t, ex)
	submitted := enginetest.View(t, ex)
	if base := strings.TrimSpace(alt.Git("rev-parse", "HEAD")); submitted.Task.BaseCommit != base {
		t.Errorf("the base commit is %q, not %q", submitted.Task.BaseCommit, base)
	}

	got := fetch(t, b, "alt", "")
	there := b.On("alt")
	if !got.New || got.Tree != submitted.Task.Submission.Tree || got.Saved != "" {
		t.Errorf("fetched %+v, submitted %s", got, submitted.Task.Submission.Tree)
	}
	if diff := cmp.Diff(alt.Disk(), there.Disk()); diff != "" {
		t.Errorf("other files: %s", diff)
	}
	if there.Read("ignored") != "up\n" {
		t.Errorf("the new work tree was set up as %q", there.Read("ignored"))
	}
	sup := there.Supervisor()
	now := enginetest.View(t, sup)
	if now.Task.Worktree != there.Dir {
		t.Errorf("the work tree is %s, not %s", now.Task.Worktree, there.Dir)
	}
	if mine, theirs := diff(t, ex.Engine(), submitted), diff(t, sup.Engine(), now); mine != theirs || mine == "" {
		t.Errorf("the patch is\n%s\nand here\n%s", mine, theirs)
	}
	// Again it changes nothing, and the setup does not run again.
	if again := fetch(t, b, "alt", ""); again.New || again.Saved != "" || there.Read("ignored") != "up\n" {
		t.Errorf("again: %+v", again)
	}
	review, _ := enginetest.Must2(sup.Review(t.Context()))(t)
	if !strings.Contains(review.Diffstat, "new/file.txt") {
		t.Errorf("the review shows %q", review.Diffstat)
	}
	mine := enginetest.Must(os.ReadFile(filepath.Join(a.Dir, ".ferrus", "branches", "alt", submitted.Task.Submission.Patch)))(t)
	if patch, err := os.ReadFile(review.Patch); err != nil || string(patch) != string(mine) || len(mine) == 0 {
		t.Errorf("the reviewer reads %q, %v", patch, err)
	}
	enginetest.Must(sup.Approve(t.Context(), "Good.", ""))(t)
	for _, l := range enginetest.History(t, ex.Engine()) {
		if l.State.Worktree != "" {
			t.Errorf("entry %d names the folder %s", l.Seq, l.State.Worktree)
		}
	}

	// The refs stay until the work is merged, or the branch is removed.
	if refs := enginetest.Refs(t, host); len(refs) != 2 {
		t.Errorf("the host has %v", refs)
	}
	enginetest.Must(branch.Remove(t.Context(), b.Human(), "alt", true))(t)
	if refs := enginetest.Refs(t, host); len(refs) != 0 {
		t.Errorf("of the removed branch the host has %v", refs)
	}
}

// TestUnfinishedFilesMove as they are, there and back: those that no check has seen, and untracked ones.
func TestUnfinishedFilesMove(t *testing.T) {
	a, b, _, ex := away(t, enginetest.Gate("true"))
	alt := a.On("alt")
	alt.Write("code.txt", "half of it\n")
	alt.Write("draft/untracked.txt", "draft\n")
	commit := enginetest.Must(ex.Engine().Publish(t.Context()))(t)
	enginetest.Dies(t, ex)

	if err := enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", commit)); err != nil {
		t.Fatal(err)
	}
	there := b.On("alt")
	if diff := cmp.Diff(alt.Disk(), there.Disk()); diff != "" {
		t.Errorf("other files: %s", diff)
	}
	next := there.Executor("codex")
	enginetest.Claim(t, next)
	there.Remove("draft/untracked.txt")
	there.Write("code.txt", "all of it\n")
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", "")), refusal.WrongState, "executor:codex:1 works on alt on this computer")
	back := enginetest.Must(next.Engine().Publish(t.Context()))(t)
	enginetest.Check(t, next, state.CheckGreen)

	// Somebody has edited the files that the first computer still has. The edit is saved.
	alt.Write("code.txt", "an edit\n")
	got := fetch(t, a, "alt", back)
	if diff := cmp.Diff(there.Disk(), alt.Disk()); diff != "" {
		t.Errorf("other files: %s", diff)
	}
	if text := a.Git("show", got.Saved+":code.txt"); got.New || text != "an edit\n" {
		t.Errorf("the edit is gone: %+v has %q", got, text)
	}
	if text := a.Git("show", got.Saved+":draft/untracked.txt"); text != "draft\n" {
		t.Errorf("the untracked file is gone: %q", text)
	}
}

// TestTheNewestFilesThatTheJournalNames are fetched: of the task's begin, of its newest check.
func TestTheNewestFilesThatTheJournalNames(t *testing.T) {
	a, b, _, ex := away(t, enginetest.Gate("test ! -e red"))
	alt, there := a.On("alt"), b.On("alt")
	begun := maps.Clone(alt.Disk())
	alt.Write("code.txt", "not checked\n")
	fetch(t, b, "alt", "")
	if diff := cmp.Diff(begun, there.Disk()); diff != "" {
		t.Errorf("at the begin: %s", diff)
	}
	alt.Write("red", "")
	enginetest.Check(t, ex, state.CheckRed)
	checked := maps.Clone(alt.Disk())
	alt.Remove("red")
	fetch(t, b, "alt", "")
	if diff := cmp.Diff(checked, there.Disk()); diff != "" {
		t.Errorf("after a check: %s", diff)
	}
}

// TestOlderFilesThatWerePublished are fetched where the newest were not: those of the newest check that the remote has, unless they were rolled back.
func TestOlderFilesThatWerePublished(t *testing.T) {
	a, b, host, ex := away(t, enginetest.Gate("true"))
	alt, there := a.On("alt"), b.On("alt")
	checked := func(text string) {
		t.Helper()
		alt.Write("code.txt", text)
		enginetest.Check(t, ex, state.CheckGreen)
	}
	checked("two\n")
	two := enginetest.View(t, ex).Task.Seq
	checked("three\n")
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+".gone\"\n")
	checked("four\n")
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+"\"\n")
	fetch(t, b, "alt", "")
	if text := there.Read("code.txt"); text != "three\n" {
		t.Errorf("fetched %q", text)
	}
	enginetest.Dies(t, ex)
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+".gone\"\n")
	enginetest.Must(alt.Human().Rollback(t.Context(), two, "Back to two."))(t)
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+"\"\n")
	(&enginetest.Machine{T: t, Dir: host}).Git("gc", "-q", "--prune=now") // no ref has "two"
	fetch(t, b, "alt", "")
	if text := there.Read("code.txt"); text != "one\n" {
		t.Errorf("fetched %q, which was rolled back", text)
	}
}

// TestWorkIsClaimedOnTheNewestFiles: on another computer than the last one they are brought before; so are those that are reviewed.
func TestWorkIsClaimedOnTheNewestFiles(t *testing.T) {
	a, b, _, ex := away(t, enginetest.Gate("true"))
	alt, there := a.On("alt"), b.On("alt")
	claim := func(s *engine.Session) error {
		_, _, err := s.AwaitTask(t.Context(), kit.Patience, false)
		return err
	}
	works := func(on *enginetest.Machine, s *engine.Session, text string) {
		t.Helper()
		enginetest.Claim(t, s)
		on.Write("code.txt", on.Read("code.txt")+text)
		enginetest.Check(t, s, state.CheckGreen)
	}
	works(alt, ex, "two\n")
	fetch(t, b, "alt", "")
	// It has edits that no check has seen when its executor dies: they are set aside.
	enginetest.Dies(t, ex)
	same := alt.Executor("codex")
	works(alt, same, "three\n")
	alt.Write("edit", "unchecked\n")
	enginetest.Dies(t, same)

	next := there.Executor("codex")
	enginetest.Refused(t, claim(next), refusal.FilesElsewhere, "the newest files of the task are on ", "ferrus branch --fetch alt")
	works(there, next, "four\n")
	if text := there.Read("code.txt"); text != "one\ntwo\nthree\nfour\n" {
		t.Errorf("continued as %q", text)
	}
	enginetest.Submitted(t, next)

	sup := alt.Supervisor()
	_, _, err := sup.Review(t.Context())
	enginetest.Refused(t, err, refusal.FilesElsewhere)
	enginetest.Refused(t, enginetest.Second(alt.Human().Approve(t.Context(), "", "")), refusal.FilesElsewhere)
	if err := branch.WithFiles(t.Context(), sup, func() error { _, _, err := sup.Review(t.Context()); return err }); err != nil {
		t.Fatal(err)
	}
	if text := alt.Read("code.txt"); text != there.Read("code.txt") {
		t.Errorf("reviewed is %q", text)
	}
	saved := strings.Fields(a.Git("for-each-ref", "--format=%(refname)", "refs/ferrus/**/*.replaced"))
	if len(saved) == 0 || a.Git("show", saved[len(saved)-1]+":edit") != "unchecked\n" {
		t.Errorf("the edit is lost; saved are %q", saved)
	}
	enginetest.Must(sup.Approve(t.Context(), "Good.", ""))(t)
}

// TestWhatCannotBeFetched says why, and what helps.
func TestWhatCannotBeFetched(t *testing.T) {
	a, b, host, _ := away(t, enginetest.Gate("true"))
	h := b.Human()
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), h, "", "")), refusal.WrongState, "the project's own work tree is yours", "ferrus branch NAME")
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), h, "none", "")), refusal.UnknownBranch, "there is no branch none")
	enginetest.Branched(t, a.Human(), branch.Fork{Names: []string{"idle"}, Own: true})
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), h, "idle", "")), refusal.WrongState, "idle has no task yet", "ferrus task --branch idle")
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), h, "alt", strings.Repeat("1", 40))), refusal.StoreError, "does not have the commit", "the next check or submission")
	enginetest.Reconfigured(t, "")
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), h, "alt", "")), refusal.WrongState, "no git remote is named", `write trees = "origin" under [store]`)
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+".gone\"\n")
	enginetest.Refused(t, enginetest.Second(branch.Fetch(t.Context(), h, "alt", "")), refusal.StoreError, "cannot be fetched")
	if _, err := os.Lstat(b.On("alt").Dir); err == nil {
		t.Error("a work tree was made all the same")
	}
}

// TestWhatAnExecutorWroteSetsNothingUpElsewhere: the set-up of a fetched work tree runs on the files that the task began with, and the
// checks there have a sandbox.
func TestWhatAnExecutorWroteSetsNothingUpElsewhere(t *testing.T) {
	for _, sandboxed := range []bool{false, true} {
		toml := enginetest.Gate("true") + "[branches]\nsetup = \"echo up >>ignored; if test -e setup.sh; then sh setup.sh; fi\"\n"
		if sandboxed {
			toml += "[hq.executor]\nsandbox = \"auto\"\n"
		}
		a, b, _, ex := away(t, toml)
		a.On("alt").Write("setup.sh", "echo ran >>ignored\n")
		a.On("alt").Write("code.txt", "two\n")
		enginetest.Submitted(t, ex)
		got := fetch(t, b, "alt", "")
		there := b.On("alt")
		want := "up\nran\n"
		if sandboxed {
			want = "up\n"
		}
		if there.Read("ignored") != want || there.Read("code.txt") != "two\n" || !there.Exists("setup.sh") || !got.New {
			t.Errorf("sandboxed %v: set up as %q, with %q: %+v", sandboxed, there.Read("ignored"), there.Files(), got)
		}
		if got := confine.Of(there.Human().Engine().Place().Dir()).Used(); got != sandboxed {
			t.Errorf("sandboxed %v: the checks have a sandbox: %v", sandboxed, got)
		}
	}
}
