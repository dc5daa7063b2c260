package publish_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) {
	os.Exit(enginetest.Main(m.Run))
}

// branched makes a branch with a task, and an executor that has claimed it.
func branched(t *testing.T, a *enginetest.Machine) (alt *enginetest.Machine, ex *engine.Session) {
	t.Helper()
	enginetest.Branched(t, a.Human(), branch.Fork{Names: []string{"alt"}, Own: true})
	alt = a.On("alt")
	enginetest.Must(alt.Human().CreateTask(t.Context(), "Do it.", ""))(t)
	ex = alt.Executor("codex")
	enginetest.Claim(t, ex)
	return alt, ex
}

// names are those of refs.
func names(refs map[string]string) string { return strings.Join(slices.Sorted(maps.Keys(refs)), " ") }

// wants demands that a host has these refs of a task, %s standing for its id.
func wants(t *testing.T, host string, s *engine.Session, want ...string) map[string]string {
	t.Helper()
	refs := enginetest.Refs(t, host)
	for i := range want {
		want[i] = fmt.Sprintf(want[i], enginetest.View(t, s).Task.TaskID)
	}
	if got := names(refs); got != strings.Join(want, " ") {
		t.Errorf("the host has %q, not %q", got, want)
	}
	return refs
}

// TestAHostThatDoesNotAnswer ends no task and no check: what it missed is published later. A submission is refused, and the same call submits later.
func TestAHostThatDoesNotAnswer(t *testing.T) {
	a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
	var down atomic.Bool
	var asked atomic.Int32
	address := enginetest.Serve(t, host, func(w http.ResponseWriter, q *http.Request) bool {
		if q.Method == http.MethodGet {
			asked.Add(1)
		}
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return !down.Load()
	})
	enginetest.Reconfigured(t, "[store]\ntrees = \""+address+"\"\n")
	var log bytes.Buffer
	a.Opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	down.Store(true)
	alt, ex := branched(t, a)
	if n := strings.Count(log.String(), "files with which the task begins were not published"); n != 1 {
		t.Errorf("told %d times: %s", n, &log)
	}
	if enginetest.View(t, ex).Task.BaseCommit == "" {
		t.Error("the task has no base commit")
	}
	alt.Write("code.txt", "two\n")
	enginetest.Check(t, ex, state.CheckGreen)
	_, err := ex.Submit(t.Context(), enginetest.Work, kit.Patience)
	enginetest.Refused(t, err, refusal.StoreError, "the files of the work were not published", "cannot be reached", "git ls-remote "+address, "try again")
	enginetest.WantState(t, ex, state.Checking)
	_, err = ex.Engine().Publish(t.Context())
	enginetest.Refused(t, err, refusal.StoreError, "cannot be reached")
	if refs := enginetest.Refs(t, host); len(refs) != 0 {
		t.Errorf("the host has %v", refs)
	}
	down.Store(false)
	enginetest.Submitted(t, ex)
	wants(t, host, ex, "alt@%s+base/0", "alt@%s/2")
	asked.Store(0)
	enginetest.Must(ex.Engine().Publish(t.Context()))(t)
	if n := asked.Load(); n != 1 { // which ref there is; the files with which the task began are known to be there
		t.Errorf("what is published already takes %d questions", n)
	}
	if err := enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", "")); err != nil {
		t.Fatal(err)
	}
	if text := b.On("alt").Read("code.txt"); text != "two\n" {
		t.Errorf("fetched %q", text)
	}
}

// TestTheNewestFilesThatWerePublishedAreFetched: those of a check that was not published are nowhere else.
func TestTheNewestFilesThatWerePublishedAreFetched(t *testing.T) {
	a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
	alt, ex := branched(t, a)
	for _, text := range []string{"first\n", "second\n", "third\n"} {
		if text == "third\n" {
			must(t, os.Rename(host, host+".away"))
		}
		alt.Write("code.txt", text)
		enginetest.Check(t, ex, state.CheckGreen)
	}
	must(t, os.Rename(host+".away", host))
	must(t, enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", "")))
	if text := b.On("alt").Read("code.txt"); text != "second\n" {
		t.Errorf("fetched %q", text)
	}
}

// TestRefsThatSomebodyDeleted, as git push --mirror does, are published again: by the same process and by another one.
func TestRefsThatSomebodyDeleted(t *testing.T) {
	a, _, host := enginetest.Computers(t, enginetest.Gate("true"))
	alt, ex := branched(t, a)
	deleted := func() {
		for line := range strings.Lines((&enginetest.Machine{T: t, Dir: host}).Git("for-each-ref", "--format=%(refname)", "refs/ferrus")) {
			(&enginetest.Machine{T: t, Dir: host}).Git("update-ref", "-d", strings.TrimSpace(line))
		}
	}
	for i, by := range []string{"the first", "the same", "another"} {
		deleted()
		alt.Write("code.txt", by+"\n")
		if by == "another" {
			enginetest.Must(alt.Human().Engine().Publish(t.Context()))(t)
		} else {
			enginetest.Check(t, ex, state.CheckGreen)
		}
		refs := wants(t, host, ex, "alt@%s+base/0", "alt@%s/2")
		for name, commit := range refs {
			text := (&enginetest.Machine{T: t, Dir: host}).Git("show", commit+":code.txt")
			if want := map[bool]string{true: "one\n", false: by + "\n"}[strings.Contains(name, "+base")]; text != want {
				t.Errorf("%d: %s has %q, not %q", i, name, text, want)
			}
		}
	}
}

// TestALaterEpochIsNotOverwritten: who has lost the task publishes nothing. What claims to be later than the journal is deleted.
func TestALaterEpochIsNotOverwritten(t *testing.T) {
	o := contested(t, 9, "")
	enginetest.Check(t, o.ex, state.CheckGreen)
	wants(t, o.host.Dir, o.ex, "alt@%s+base/0", "alt@%s/2")

	// While the first computer submits, the second takes the task over.
	o.at.Store(1)
	_, err := o.ex.Submit(t.Context(), enginetest.Work, kit.Patience)
	enginetest.Refused(t, err, refusal.LeaseLost, "another session has pushed epoch")
	o.at.Store(0)
	_, err = o.alt.Human().Engine().Publish(t.Context())
	enginetest.Refused(t, err, refusal.LeaseLost, "executor:codex:1 works on the task on another computer")
	now := enginetest.View(t, o.ex).Task
	if text := o.host.Git("show", fmt.Sprintf("%s/%d:code.txt", o.refs, now.Epoch)); text != "the successor's\n" {
		t.Errorf("the successor's files are %q", text)
	}
}

// TestWhatNobodyNeedsIsDeleted: refs of old epochs, of tasks that have ended, of those that were given up.
func TestWhatNobodyNeedsIsDeleted(t *testing.T) {
	a, _, host := enginetest.Computers(t, enginetest.Gate("true"))
	sup, ex := a.Begun()
	a.Write("code.txt", "two\n")
	enginetest.Check(t, ex, state.CheckGreen)
	wants(t, host, ex, "%s+base/0", "%s/1")
	enginetest.Dies(t, ex)
	next := a.Executor("codex")
	enginetest.Claim(t, next)
	a.Write("code.txt", "three\n")
	enginetest.Submitted(t, next)
	wants(t, host, next, "%s+base/0", "%s/2")
	enginetest.Must2(sup.Review(t.Context()))(t)
	enginetest.Must(sup.Approve(t.Context(), "Good.", ""))(t)
	enginetest.AllKept(sup)
	wants(t, host, next)
	enginetest.Must(sup.CreateTask(t.Context(), "More.", ""))(t)
	wants(t, host, next, "%s+base/0")
	h := a.Human()
	enginetest.Must(h.Reset(t.Context(), "Not now."))(t)
	enginetest.AllKept(h)
	wants(t, host, next)
}

// TestAttemptsAtOneTask have the same task id, and refs of their own. A branch that is made again under its name publishes, whatever the first one left.
func TestAttemptsAtOneTask(t *testing.T) {
	a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
	a.Begun()
	enginetest.Branched(t, a.Human(), branch.Fork{Names: []string{"try.1", "try.2"}})
	for _, name := range []string{"try.1", "try.2"} {
		alt := a.On(name)
		ex := alt.Executor("codex")
		enginetest.Claim(t, ex)
		alt.Write("code.txt", name+"\n")
		enginetest.Submitted(t, ex)
		if err := enginetest.Second(branch.Fetch(t.Context(), b.Human(), name, "")); err != nil {
			t.Fatal(err)
		}
		if text := b.On(name).Read("code.txt"); text != name+"\n" {
			t.Errorf("%s has %q", name, text)
		}
	}
	wants(t, host, a.Human(), "%s+base/0", "try.1@%[1]s+base/0", "try.1@%[1]s/3", "try.2@%[1]s+base/0", "try.2@%[1]s/3")

	old := a.On("try.1")
	enginetest.Must(old.Human().Reject(t.Context(), "Once more.", ""))(t)
	again := old.Executor("codex")
	enginetest.Claim(t, again)
	enginetest.Must(again.Engine().Publish(t.Context()))(t)
	enginetest.Dies(t, again)
	enginetest.Reconfigured(t, "") // as a computer is whose person publishes nothing
	enginetest.Must(branch.Remove(t.Context(), a.Human(), "try.1", true))(t)
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+"\"\n")
	wants(t, host, a.Human(), "%s+base/0", "try.1@%[1]s+base/0", "try.1@%[1]s/3", "try.1@%[1]s/4", "try.2@%[1]s+base/0", "try.2@%[1]s/3")
	enginetest.Branched(t, a.Human(), branch.Fork{Names: []string{"try.1"}})
	ex := a.On("try.1").Executor("codex")
	enginetest.Claim(t, ex)
	enginetest.Submitted(t, ex)
	wants(t, host, a.Human(), "%s+base/0", "try.1@%[1]s+base/0", "try.1@%[1]s/3", "try.2@%[1]s+base/0", "try.2@%[1]s/3")
}

// TestTheTaskOfAnotherComputer in the project's own work tree can be claimed where the files are the same. It is published from there, on the base commit of
// the other, which is fetched.
func TestTheTaskOfAnotherComputer(t *testing.T) {
	a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
	a.Write("only-here.txt", "1\n")
	a.Git("add", "only-here.txt")
	a.Git("commit", "-q", "-m", "not pushed")
	sup := a.Supervisor()
	enginetest.Must(sup.CreateTask(t.Context(), "Build it.", ""))(t)
	ex := b.Executor("codex")
	claim := func() error {
		_, _, err := ex.AwaitTask(t.Context(), kit.Patience, false)
		return err
	}
	enginetest.Refused(t, branch.WithFiles(t.Context(), ex, claim), refusal.WrongState, "the project's own work tree is yours", "ferrus branch NAME")
	b.Write("only-here.txt", "1\n")
	enginetest.Refused(t, claim(), refusal.FilesElsewhere, "the newest files of the task are on ", "work on it there")
	enginetest.Claim(t, ex)
	b.Write("code.txt", "two\n")
	out := enginetest.Submitted(t, ex)
	wants(t, host, ex, "%s+base/0", "%s/1")
	if patch := b.Read(".ferrus/" + out.Task.Submission.Patch); !strings.Contains(patch, "+two") {
		t.Errorf("the patch is %q", patch)
	}
}

// TestAHostThatTakesOnlyBranches is named by the error, with what helps.
func TestAHostThatTakesOnlyBranches(t *testing.T) {
	a, b, host := enginetest.Computers(t, enginetest.Gate("true"))
	hook := filepath.Join(host, "hooks", "update")
	text := "#!/bin/sh\ncase $1 in refs/heads/*) ;; *) echo 'only branches and tags' >&2; exit 1;; esac\n"
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	_, ex := branched(t, a)
	enginetest.Check(t, ex, state.CheckGreen)
	_, err := ex.Submit(t.Context(), enginetest.Work, kit.Patience)
	enginetest.Refused(t, err, refusal.StoreError, "only branches and tags", `write namespace = "refs/heads/ferrus" under [store] in `)
	tree := enginetest.Must(project.Repository(t.Context(), a.Dir))(t)
	if _, err := ex.Engine().Published().Probe(t.Context(), tree); err == nil || !strings.Contains(err.Error(), `namespace = "refs/heads/ferrus"`) {
		t.Error(err)
	}
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+"\"\nnamespace = \"refs/heads/ferrus\"\n")
	if _, err := ex.Engine().Published().Probe(t.Context(), tree); err != nil {
		t.Error(err)
	}
	enginetest.Submitted(t, ex)
	wants(t, host, ex, "alt@%s+base/0", "alt@%s/2")
	if err := enginetest.Second(branch.Fetch(t.Context(), b.Human(), "alt", "")); err != nil {
		t.Error(err)
	}
}

// TestNothingIsPublishedUnlessAPersonSaysSo.
func TestNothingIsPublishedUnlessAPersonSaysSo(t *testing.T) {
	a, _, host := enginetest.Computers(t, enginetest.Gate("true"))
	enginetest.Reconfigured(t, "")
	_, ex := branched(t, a)
	enginetest.Submitted(t, ex)
	if commit, err := ex.Engine().Publish(t.Context()); commit != "" || err != nil {
		t.Errorf("published %q: %v", commit, err)
	}
	if refs := enginetest.Refs(t, host); len(refs) != 0 || enginetest.View(t, ex).Task.BaseCommit != "" {
		t.Errorf("the host has %v", refs)
	}
	// Once a person has said so, tasks from before travel too.
	enginetest.Reconfigured(t, "[store]\ntrees = \""+host+"\"\n")
	enginetest.Must(ex.Engine().Publish(t.Context()))(t)
	wants(t, host, ex, "alt@%s+base/0", "alt@%s/2")
}

// TestThePathOfAnotherComputerIsNotUsed: a task that began in files names its folder. In a database nobody goes there, and the next line does not
// name it.
func TestThePathOfAnotherComputerIsNotUsed(t *testing.T) {
	a, b, _ := enginetest.Computers(t, enginetest.Gate("true"), func(a *enginetest.Machine) {
		sup := a.Supervisor()
		enginetest.Must(sup.CreateTask(t.Context(), "Build it.", ""))(t)
		enginetest.Dies(t, sup)
	})
	ex := b.Executor("codex")
	for _, l := range enginetest.History(t, ex.Engine()) {
		if l.State.Worktree != a.Dir {
			t.Errorf("entry %d names %q", l.Seq, l.State.Worktree)
		}
	}
	if now := enginetest.View(t, ex); now.Task.Worktree != b.Dir {
		t.Errorf("the work tree is %q", now.Task.Worktree)
	}
	enginetest.Claim(t, ex)
	lines := enginetest.History(t, ex.Engine())
	if l := lines[len(lines)-1]; l.State.Worktree != "" {
		t.Errorf("entry %d names %q", l.Seq, l.State.Worktree)
	}
}
