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

// S1-21.
func TestAGateThatCannotRunSpendsNothingAndTheThirdAsksAPerson(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("no-such-command-at-all")+"[limits]\nmax_check_retries = 1\n")
	_, ex := p.begun()
	errors := func(n int) (out Checked) {
		t.Helper()
		for range n {
			out = check(t, ex, state.CheckGateError)
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
	must(p.human().Answer(t.Context(), "", "I have installed it."))(t)
	// The one who waits is told, as if it had asked itself.
	answer, _ := must2(ex.AwaitAnswer(t.Context(), patience))(t)
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
	p := repository(t, gate("test ! -e broken || exit 127; test ! -e red"))
	_, ex := p.begun()
	for _, between := range []state.CheckStatus{state.CheckRed, state.CheckGreen} {
		for range 2 {
			p.write("broken", "")
			check(t, ex, state.CheckGateError)
			check(t, ex, state.CheckGateError)
			p.remove("broken")
			if between == state.CheckRed {
				p.write("red", "")
				check(t, ex, between)
				p.remove("red")
			} else {
				check(t, ex, between)
			}
		}
	}
	if snap := view(t, ex); snap.Task.Issued.Questions != 0 {
		t.Errorf("%d questions were asked", snap.Task.Issued.Questions)
	}
}

func TestTheSameFailureTimeAndAgainAsksAPerson(t *testing.T) {
	t.Parallel()
	p := repository(t, gate(`echo "took $(date +%N) ns"; cat reason; test -e green`)+"[limits]\nmax_same_failure = 3\n")
	_, ex := p.begun()
	red := func(reason string, asked bool) {
		t.Helper()
		p.write("reason", reason)
		if out := check(t, ex, state.CheckRed); out.Asked != asked {
			t.Fatalf("%q: asked %v, want %v (same %d)", reason, out.Asked, asked, out.Task.Check.Same)
		}
	}
	red("assertion a", false)
	red("assertion a", false)
	red("assertion b", false) // another failure
	red("assertion b", false)
	red("assertion b", true)
	snap := wantState(t, ex, state.AwaitingHuman)
	if snap.Task.CheckRetries != 5 || snap.Task.Top().State != state.Addressing {
		t.Errorf("%d retries, pause %+v", snap.Task.CheckRetries, snap.Task.Top())
	}
	if q := p.read(ex.e.store.Path("QUESTION.md")); !strings.Contains(q, "failed 3 times in a row") {
		t.Errorf("the question: %s", q)
	}
	must(p.human().Answer(t.Context(), "q1", "Look at b."))(t)
	red("assertion b", false)
}

func TestAFailedTaskAsksNobody(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("false")+"[limits]\nmax_same_failure = 2\nmax_check_retries = 2\n")
	_, ex := p.begun()
	check(t, ex, state.CheckRed)
	if out := check(t, ex, state.CheckRed); out.Asked || out.Task.State != state.Failed {
		t.Errorf("asked %v in %s", out.Asked, out.Task.State)
	}
}

func TestWithoutGitNoCheckIsRemembered(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("test ! -e red"))
	sup, ex := p.begun()
	check(t, ex, state.CheckGreen)
	p.write("red", "")
	if out := must(ex.Submit(t.Context(), work, patience))(t); out.Accepted || out.Task.State != state.Addressing {
		t.Fatalf("submitted over a red gate, in %s", out.Task.State)
	}
	p.remove("red")
	submitted(t, ex)
	if n := count(t, ex.e, state.CheckStarted); n != 3 {
		t.Errorf("the gate ran %d times, want 3", n)
	}
	r, _ := must2(sup.Review(t.Context()))(t)
	if r.Patch != "" || !strings.Contains(r.Diffstat, "no git") {
		t.Errorf("patch %q, diffstat %q", r.Patch, r.Diffstat)
	}
	must(sup.Approve(t.Context(), "", ""))(t)
}

func TestTheGateIsPinnedToTheTask(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("false"))
	_, ex := p.begun()
	p.write("ferrus.toml", "[checks]\ncommands = []\n[limits]\nmax_check_retries = 99\n")
	if out := check(t, ex, state.CheckRed); out.Failures[0].Line != "false" {
		t.Errorf("ran %+v", out.Failures)
	}
	st := must(ex.e.Status())(t)
	notices := strings.Join(st.Notices(), "\n")
	for _, want := range []string{"config_changed: checks.commands", `["false"]`, "max_check_retries: frozen 20, now 99", "ferrus config accept"} {
		if !strings.Contains(notices, want) {
			t.Errorf("notices %q lack %q", notices, want)
		}
	}
	diff, done, err := p.human().AcceptConfig(t.Context())
	if err != nil || len(diff) != 2 || done.Task.State != state.Addressing {
		t.Fatalf("accepted %v in %s: %v", diff, done.Task.State, err)
	}
	check(t, ex, state.CheckGreen) // commands = [] is a person's explicit choice
	if st := must(ex.e.Status())(t); len(st.Notices()) != 0 {
		t.Errorf("notices %q", st.Notices())
	}
	_, _, err = ex.AcceptConfig(t.Context())
	if err != nil {
		t.Errorf("nothing to accept: %v", err)
	}
	p.write("ferrus.toml", gate("true"))
	_, _, err = ex.AcceptConfig(t.Context())
	refused(t, err, refusal.ForbiddenRole)
}

func TestABrokenConfigurationStopsNoTask(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	p.write("ferrus.toml", "[cheques]\n")
	check(t, ex, state.CheckGreen)
	if notices := strings.Join(must(ex.e.Status())(t).Notices(), "\n"); !strings.Contains(notices, "config_broken") || !strings.Contains(notices, "cheques") {
		t.Errorf("notices %q", notices)
	}
	must(p.human().Reset(t.Context(), ""))(t)
	_, err := p.supervisor().CreateTask(t.Context(), "More.", "")
	refused(t, err, refusal.InvalidInput, "cheques")
}

func TestAPersonCanReplaceAGateThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	h := p.human()
	must(h.commit(t.Context(), transition{event: state.AcceptConfig, docs: map[state.Doc]string{store.GateDoc: `{"judge":"me"}`}}))(t)
	_, err := ex.Check(t.Context(), patience)
	refused(t, err, refusal.Corrupt, "ferrus config accept")
	if _, _, err := h.AcceptConfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, ex, state.CheckGreen)
}

func TestARepositoryWithoutACommitWillDo(t *testing.T) {
	t.Parallel()
	p := plain(t, gate("true"))
	p.gitInit()
	p.write("code.txt", "one\n")
	sup, ex := p.begun()
	p.write("code.txt", "two\n")
	submitted(t, ex)
	r, snap := must2(sup.Review(t.Context()))(t)
	if patch := p.read(r.Patch); !strings.Contains(patch, "-one\n+two\n") || snap.Task.Submission.Tree == "" {
		t.Errorf("patch %q", patch)
	}
	p.git("add", ".")
	p.git("commit", "-q", "-m", "first")
	must(sup.Approve(t.Context(), "", ""))(t)
}

// TestAMachineInASubfolder checks there, and counts the whole work tree.
func TestAMachineInASubfolder(t *testing.T) {
	t.Parallel()
	whole := repository(t, gate("true"))
	p := &machine{t: t, dir: filepath.Join(whole.dir, "part"), side: whole.side, opts: whole.opts}
	p.write("ferrus.toml", gate("pwd -P > '"+p.side+"/where'"))
	p.init()
	deep := filepath.Join(p.dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if at := must(project.Find(t.Context(), deep))(t); at.Root != p.dir || at.Work != p.dir {
		t.Fatalf("found %+v from %s", at, deep)
	}
	sup, ex := p.begun()
	check(t, ex, state.CheckGreen)
	if where := strings.TrimSpace(p.read(p.side + "/where")); where != p.dir {
		t.Errorf("checked in %s, want %s", where, p.dir)
	}
	whole.write("code.txt", "two\n")
	submitted(t, ex)
	if n := count(t, ex.e, state.CheckStarted); n != 2 {
		t.Errorf("an edit beside the subfolder was not seen: the gate ran %d times", n)
	}
	r, _ := must2(sup.Review(t.Context()))(t)
	if !strings.Contains(p.read(r.Patch), "code.txt") {
		t.Error("the patch does not show the edit beside the subfolder")
	}
}

// TestATreeThatGitCannotReadIsNoDeadEnd: the work is given out all the same, for somebody must mend it.
func TestATreeThatGitCannotReadIsNoDeadEnd(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	index := p.read(".git/index")
	p.write(".git/index", "no index")
	got := claim(t, ex)
	if got.Packet.Task != "Build it." || !strings.Contains(got.Packet.Diffstat, "not known: ") {
		t.Errorf("packet %+v", got.Packet)
	}
	_, err := ex.Check(t.Context(), patience)
	refused(t, err, refusal.StoreError, "work tree cannot be read")
	p.write(".git/index", index)
	check(t, ex, state.CheckGreen)
}

// TestASubmissionFollowsNoLink: the server may have rights that the agent has not.
func TestASubmissionFollowsNoLink(t *testing.T) {
	t.Parallel()
	p := repository(t, gate("true"))
	_, ex := p.begun()
	p.write(p.side+"/precious", "precious")
	link := ex.e.store.Path("logs", view(t, ex).Task.TaskID+"-s1.patch")
	if err := os.Symlink(p.side+"/precious", link); err != nil {
		t.Fatal(err)
	}
	submitted(t, ex)
	if got := p.read(p.side + "/precious"); got != "precious" {
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
	p := repository(t, gate("true"))
	sup, ex := p.begun()
	var said []string
	for _, call := range []struct {
		s  *Session
		do func(*Session) error
	}{
		{ex, func(s *Session) error { return second(s.Check(t.Context(), patience)) }},
		{ex, func(s *Session) error { return second(s.Submit(t.Context(), work, patience)) }},
		{sup, func(s *Session) error { _, _, err := s.Review(t.Context()); return err }},
		{sup, func(s *Session) error { return second(s.Approve(t.Context(), "ok", "s1")) }},
	} {
		p.git("config", "core.worktree", p.side)
		err := call.do(call.s)
		refused(t, err, refusal.StoreError, "git -C "+p.dir+" config --unset core.worktree", "try again")
		said = append(said, fmt.Sprint(err))
		p.git("config", "--unset", "core.worktree")
		if err := call.do(call.s); err != nil {
			t.Fatal(err)
		}
	}
	if said = slices.Compact(said); len(said) > 1 {
		t.Errorf("%d errors: %q", len(said), said)
	}
	wantState(t, sup, state.Complete)
}
