package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/test/kit"
)

// S1-21.
func TestAGateThatCannotRunSpendsNothingAndTheThirdAsksAPerson(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("no-such-command-at-all")+"[limits]\nmax_check_retries = 1\n")
	_, ex := p.Begun()
	errors := func(n int) (out engine.Checked) {
		t.Helper()
		for range n {
			out = enginetest.Check(t, ex, state.CheckGateError)
			if out.Task.CheckRetries != 0 || !strings.Contains(out.Err, "not found") {
				t.Fatalf("%d retries, error %q", out.Task.CheckRetries, out.Err)
			}
		}
		return out
	}
	if out := errors(2); out.Asked || out.Task.State != state.Executing {
		t.Fatalf("asked already: %s", out.Task.State)
	}
	out := errors(1)
	if top := out.Task.Top(); !out.Asked || out.Task.State != state.AwaitingHuman || top.By != "ferrus" || top.State != state.Executing {
		t.Fatalf("not asked: %s, pause %+v", out.Task.State, top)
	}
	enginetest.Must(p.Human().Answer(t.Context(), "", "I have installed it."))(t)
	// The one who waits gets the answer, as if it had asked itself.
	answer, _ := enginetest.Must2(ex.AwaitAnswer(t.Context(), kit.Patience))(t)
	if answer == nil || answer.Answer != "I have installed it." || !strings.Contains(answer.Question, "no-such-command-at-all") {
		t.Fatalf("answer %+v", answer)
	}
	if out := errors(2); out.Asked {
		t.Error("a person who has just answered is asked again at once")
	}
	if out := errors(1); !out.Asked {
		t.Error("the third in a row after the answer does not ask")
	}
}

func TestAGreenOrRedCheckEndsARowOfGateErrors(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("test ! -e broken || exit 127; test ! -e red"))
	_, ex := p.Begun()
	for _, between := range []state.CheckStatus{state.CheckRed, state.CheckGreen} {
		for range 2 {
			p.Write("broken", "")
			enginetest.Check(t, ex, state.CheckGateError)
			enginetest.Check(t, ex, state.CheckGateError)
			p.Remove("broken")
			if between == state.CheckRed {
				p.Write("red", "")
				enginetest.Check(t, ex, between)
				p.Remove("red")
			} else {
				enginetest.Check(t, ex, between)
			}
		}
	}
	if snap := enginetest.View(t, ex); snap.Task.Issued.Questions != 0 {
		t.Errorf("%d questions were asked", snap.Task.Issued.Questions)
	}
}

func TestTheSameFailureTimeAndAgainAsksAPerson(t *testing.T) {
	enginetest.InFiles(t, "it reads QUESTION.md")
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate(`echo "took $(date +%N) ns"; cat reason; test -e green`)+"[limits]\nmax_same_failure = 3\n")
	_, ex := p.Begun()
	red := func(reason string, asked bool) {
		t.Helper()
		p.Write("reason", reason)
		if out := enginetest.Check(t, ex, state.CheckRed); out.Asked != asked {
			t.Fatalf("%q: asked %v, want %v (same %d)", reason, out.Asked, asked, out.Task.Check.Same)
		}
	}
	red("assertion a", false)
	red("assertion a", false)
	red("assertion b", false) // another failure
	red("assertion b", false)
	red("assertion b", true)
	snap := enginetest.WantState(t, ex, state.AwaitingHuman)
	if snap.Task.CheckRetries != 5 || snap.Task.Top().State != state.Addressing {
		t.Errorf("%d retries, pause %+v", snap.Task.CheckRetries, snap.Task.Top())
	}
	if q := p.Read(ex.Engine().Place().Path("QUESTION.md")); !strings.Contains(q, "failed 3 times in a row") {
		t.Errorf("the question: %s", q)
	}
	enginetest.Must(p.Human().Answer(t.Context(), "q1", "Look at b."))(t)
	red("assertion b", false)
}

func TestAFailedTaskAsksNobody(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("false")+"[limits]\nmax_same_failure = 2\nmax_check_retries = 2\n")
	_, ex := p.Begun()
	enginetest.Check(t, ex, state.CheckRed)
	if out := enginetest.Check(t, ex, state.CheckRed); out.Asked || out.Task.State != state.Failed {
		t.Errorf("asked %v in %s", out.Asked, out.Task.State)
	}
}

func TestWithoutGitNoCheckIsRemembered(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("test ! -e red"))
	sup, ex := p.Begun()
	enginetest.Check(t, ex, state.CheckGreen)
	p.Write("red", "")
	if out := enginetest.Must(ex.Submit(t.Context(), enginetest.Work, kit.Patience))(t); out.Accepted || out.Task.State != state.Addressing {
		t.Fatalf("submitted over a red gate, in %s", out.Task.State)
	}
	p.Remove("red")
	enginetest.Submitted(t, ex)
	if n := enginetest.Count(t, ex.Engine(), state.CheckStarted); n != 3 {
		t.Errorf("the gate ran %d times, want 3", n)
	}
	r, _ := enginetest.Must2(sup.Review(t.Context()))(t)
	if r.Patch != "" || !strings.Contains(r.Diffstat, "no git") {
		t.Errorf("patch %q, diffstat %q", r.Patch, r.Diffstat)
	}
	enginetest.Must(sup.Approve(t.Context(), "", ""))(t)
}

func TestTheGateIsPinnedToTheTask(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("false"))
	_, ex := p.Begun()
	p.Write("ferrus.toml", "[checks]\ncommands = []\n[limits]\nmax_check_retries = 99\n")
	if out := enginetest.Check(t, ex, state.CheckRed); out.Failures[0].Line != "false" {
		t.Errorf("ran %+v", out.Failures)
	}
	st := enginetest.Must(ex.Engine().Status())(t)
	notices := strings.Join(st.Notices(), "\n")
	for _, want := range []string{"config_changed: checks.commands", `["false"]`, "max_check_retries: frozen 20, now 99", "ferrus config accept"} {
		if !strings.Contains(notices, want) {
			t.Errorf("notices %q lack %q", notices, want)
		}
	}
	diff, done, err := p.Human().AcceptConfig(t.Context())
	if err != nil || len(diff) != 2 || done.Task.State != state.Addressing {
		t.Fatalf("accepted %v in %s: %v", diff, done.Task.State, err)
	}
	enginetest.Check(t, ex, state.CheckGreen) // commands = [] is a person's explicit choice
	if st := enginetest.Must(ex.Engine().Status())(t); len(st.Notices()) != 0 {
		t.Errorf("notices %q", st.Notices())
	}
	_, _, err = ex.AcceptConfig(t.Context())
	if err != nil {
		t.Errorf("nothing to accept: %v", err)
	}
	p.Write("ferrus.toml", enginetest.Gate("true"))
	_, _, err = ex.AcceptConfig(t.Context())
	enginetest.Refused(t, err, refusal.ForbiddenRole)
}

func TestABrokenConfigurationStopsNoTask(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	p.Write("ferrus.toml", "[cheques]\n")
	enginetest.Check(t, ex, state.CheckGreen)
	if notices := strings.Join(enginetest.Must(ex.Engine().Status())(t).Notices(), "\n"); !strings.Contains(notices, "config_broken") || !strings.Contains(notices, "cheques") {
		t.Errorf("notices %q", notices)
	}
	enginetest.Must(p.Human().Reset(t.Context(), ""))(t)
	_, err := p.Supervisor().CreateTask(t.Context(), "More.", "")
	enginetest.Refused(t, err, refusal.InvalidInput, "cheques")
}

func TestAPersonCanReplaceAGateThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	h := p.Human()
	enginetest.Must(h.Commit(t.Context(), state.AcceptConfig, map[state.Doc]string{store.GateDoc: `{"judge":"me"}`}))(t)
	_, err := ex.Check(t.Context(), kit.Patience)
	enginetest.Refused(t, err, refusal.Corrupt, "ferrus config accept")
	if _, _, err := h.AcceptConfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	enginetest.Check(t, ex, state.CheckGreen)
}

func TestARepositoryWithoutACommitWillDo(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("true"))
	p.GitInit()
	p.Write("code.txt", "one\n")
	sup, ex := p.Begun()
	p.Write("code.txt", "two\n")
	enginetest.Submitted(t, ex)
	r, snap := enginetest.Must2(sup.Review(t.Context()))(t)
	if patch := p.Read(r.Patch); !strings.Contains(patch, "-one\n+two\n") || snap.Task.Submission.Tree == "" {
		t.Errorf("patch %q", patch)
	}
	p.Git("add", ".")
	p.Git("commit", "-q", "-m", "first")
	enginetest.Must(sup.Approve(t.Context(), "", ""))(t)
}

// TestAMachineInASubfolder checks there, and counts the whole work tree.
func TestAMachineInASubfolder(t *testing.T) {
	t.Parallel()
	whole := enginetest.Repository(t, enginetest.Gate("true"))
	p := &enginetest.Machine{T: t, Dir: filepath.Join(whole.Dir, "part"), Side: whole.Side, Opts: whole.Opts}
	p.Write("ferrus.toml", enginetest.Gate("pwd -P > '"+p.Side+"/where'"))
	p.Init()
	deep := filepath.Join(p.Dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if at := enginetest.Must(project.Find(t.Context(), deep))(t); at.Root != p.Dir || at.Work != p.Dir {
		t.Fatalf("found %+v from %s", at, deep)
	}
	sup, ex := p.Begun()
	enginetest.Check(t, ex, state.CheckGreen)
	if where := strings.TrimSpace(p.Read(p.Side + "/where")); where != p.Dir {
		t.Errorf("checked in %s, want %s", where, p.Dir)
	}
	whole.Write("code.txt", "two\n")
	enginetest.Submitted(t, ex)
	if n := enginetest.Count(t, ex.Engine(), state.CheckStarted); n != 2 {
		t.Errorf("an edit beside the subfolder was not seen: the gate ran %d times", n)
	}
	r, _ := enginetest.Must2(sup.Review(t.Context()))(t)
	if !strings.Contains(p.Read(r.Patch), "code.txt") {
		t.Error("the patch does not show the edit beside the subfolder")
	}
}

// TestATreeThatGitCannotReadIsNoDeadEnd: the work is given out all the same, for an agent must fix it.
func TestATreeThatGitCannotReadIsNoDeadEnd(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	index := p.Read(".git/index")
	p.Write(".git/index", "no index")
	got := enginetest.Claim(t, ex)
	if got.Packet.Task != "Build it." || !strings.Contains(got.Packet.Diffstat, "not known: ") {
		t.Errorf("packet %+v", got.Packet)
	}
	_, err := ex.Check(t.Context(), kit.Patience)
	enginetest.Refused(t, err, refusal.StoreError, "work tree cannot be read")
	p.Write(".git/index", index)
	enginetest.Check(t, ex, state.CheckGreen)
}

// TestASubmissionFollowsNoLink: the server may have rights that the agent has not.
func TestASubmissionFollowsNoLink(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	_, ex := p.Begun()
	p.Write(p.Side+"/precious", "precious")
	link := ex.Engine().Place().Path("logs", enginetest.View(t, ex).Task.TaskID+"-s1.patch")
	if err := os.Symlink(p.Side+"/precious", link); err != nil {
		t.Fatal(err)
	}
	enginetest.Submitted(t, ex)
	if got := p.Read(p.Side + "/precious"); got != "precious" {
		t.Errorf("the link was followed: %q", got)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the patch is %v, %v", info, err)
	}
}

// TestFilesThatAreSaidToBeElsewhereAreRefused: core.worktree is set while servers are open, and each call says the same, as a
// server does that is started then.
func TestFilesThatAreSaidToBeElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, ex := p.Begun()
	var said []string
	for _, call := range []struct {
		s  *engine.Session
		do func(*engine.Session) error
	}{
		{ex, func(s *engine.Session) error { return enginetest.Second(s.Check(t.Context(), kit.Patience)) }},
		{ex, func(s *engine.Session) error {
			return enginetest.Second(s.Submit(t.Context(), enginetest.Work, kit.Patience))
		}},
		{sup, func(s *engine.Session) error { _, _, err := s.Review(t.Context()); return err }},
		{sup, func(s *engine.Session) error { return enginetest.Second(s.Approve(t.Context(), "ok", "s1")) }},
	} {
		p.Git("config", "core.worktree", p.Side)
		err := call.do(call.s)
		enginetest.Refused(t, err, refusal.StoreError, "git -C "+git.ShellQuoted(p.Dir)+" config --unset core.worktree", "try again")
		said = append(said, fmt.Sprint(err))
		p.Git("config", "--unset", "core.worktree")
		if err := call.do(call.s); err != nil {
			t.Fatal(err)
		}
	}
	if said = slices.Compact(said); len(said) > 1 {
		t.Errorf("%d errors: %q", len(said), said)
	}
	enginetest.WantState(t, sup, state.Complete)
}
