package engine_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/rules"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/test/kit"
)

// ruled is a ferrus.toml with rules.
func ruled(lines ...string) string {
	text := enginetest.Gate("test ! -e red")
	for _, l := range lines {
		text += "[[rules]]\n" + strings.ReplaceAll(l, "; ", "\n") + "\n"
	}
	return text
}

const (
	consultAtTwo = `on = "check_failed"; when = { same = 2 }; then = "consult"`
	opusAtTwo    = `on = "check_failed"; when = { same = 2 }; then = "executor claude-code:opus"`
	approveDocs  = `on = "submit"; when = { paths = ["docs/**", "*.md"] }; then = "approve"`
)

// events are the newest events of the journal, each with its rule.
func events(t testing.TB, s *engine.Session, n int) (list []string) {
	t.Helper()
	for _, l := range enginetest.History(t, s.Engine()) {
		text := string(l.Event)
		if l.Rule != "" {
			text += " (" + l.Rule + ")"
		}
		list = append(list, text)
	}
	return list[max(0, len(list)-n):]
}

func wantEvents(t testing.TB, s *engine.Session, want ...string) {
	t.Helper()
	if got := events(t, s, len(want)); !slices.Equal(got, want) {
		t.Errorf("the journal ends with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// happens appends an event and nothing else, as a process does that ends right after it.
func happens(t testing.TB, s *engine.Session, ev state.Event, by state.Role, lay func(*state.Task)) {
	t.Helper()
	_, err := s.Engine().Store().Apply(t.Context(), func(now store.Snapshot) (*store.Change, error) {
		next, err := state.Step(now.Task, ev, by, state.Limits{CheckRetries: 20, ReviewCycles: 3})
		if lay != nil {
			lay(&next)
		}
		return &store.Change{Actor: store.Actor{Role: by.Public(), Agent: s.Agent, Session: s.ID}, Event: ev, Next: next, Note: "as it ended"}, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestARuleAsksTheSupervisor without a model that decides to, and the journal names it. S2-11.
func TestARuleAsksTheSupervisor(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, ruled(consultAtTwo))
	sup, ex := p.Begun()
	p.Write("red", "")
	if out := enginetest.Check(t, ex, state.CheckRed); out.Rule != "" || out.Task.State != state.Addressing {
		t.Fatalf("after the first failure: %s by %q", out.Task.State, out.Rule)
	}
	out := enginetest.Check(t, ex, state.CheckRed)
	if out.Rule != "on check_failed when same = 2 then consult" || out.Asked || !ex.Holds(out.Task) {
		t.Fatalf("%+v", out)
	}
	wantEvents(t, ex, "check_failed", "consult (on check_failed when same = 2 then consult)")
	snap := enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
	text := enginetest.Must(store.Text(sup.Engine().Store(), snap, state.ConsultRequestDoc))(t)
	for _, want := range []string{"ferrus asks by a rule of ferrus.toml, not the executor: on check_failed when same = 2 then consult", "test ! -e red", "2 in a row"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	enginetest.Must(sup.Respond(t.Context(), "Remove it.", ""))(t)
	if _, ok, err := ex.AwaitResponse(t.Context(), kit.Patience); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := enginetest.WantState(t, ex, state.Addressing); got.Top.Actor.Agent != ex.Agent {
		t.Errorf("taken by %s", got.Top.Actor.Agent)
	}
	// The default still asks a person in the end.
	enginetest.Check(t, ex, state.CheckRed)
	enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
	enginetest.Must(sup.Respond(t.Context(), "Remove it.", ""))(t)
	enginetest.Must2(ex.AwaitResponse(t.Context(), kit.Patience))
	enginetest.Check(t, ex, state.CheckRed)
	enginetest.Must(sup.AwaitReview(t.Context(), kit.Patience))(t)
	enginetest.Must(sup.Respond(t.Context(), "Remove it.", ""))(t)
	enginetest.Must2(ex.AwaitResponse(t.Context(), kit.Patience))
	if out := enginetest.Check(t, ex, state.CheckRed); !out.Asked || out.Rule != "on check_failed when same = 5 then ask_human" {
		t.Errorf("the fifth: %q, asked %v", out.Rule, out.Asked)
	}
}

// TestARuleGivesTheWorkToAnother: who held it is fenced, and told; a person's word makes it the configured one again.
func TestARuleGivesTheWorkToAnother(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, ruled(opusAtTwo, `on = "check_failed"; when = { same = 2 }; then = "consult"`))
	_, ex := p.Begun()
	p.Write("red", "")
	enginetest.Check(t, ex, state.CheckRed)
	epoch := enginetest.View(t, ex).Task.Epoch
	out := enginetest.Check(t, ex, state.CheckRed)
	if out.Task.ClaimedBy != "" || out.Task.Epoch != epoch+1 || out.Task.State != state.Addressing || out.Task.Assigned.Agent != "claude-code" {
		t.Fatalf("%+v", out.Task)
	}
	enginetest.Refused(t, enginetest.Second(ex.Progress(t.Context(), "still here")), refusal.LeaseLost, "a rule of the project gave the work to claude-code")
	if got, _, err := ex.AwaitTask(t.Context(), enginetest.Brief, true); got != nil || err != nil {
		t.Errorf("the replaced executor has the work again: %v", err)
	}
	gate := enginetest.Must(ex.Engine().Gate(out.Snapshot))(t)
	if gate.HQ.Executor.Agent != "claude-code" || gate.HQ.Executor.Model != "opus" || len(gate.Diff(enginetest.Must(ex.Engine().Config())(t).Gate())) > 0 {
		t.Errorf("%+v", gate.HQ.Executor)
	}
	next := p.Executor("claude-code")
	enginetest.Claim(t, next)
	if out := enginetest.Check(t, next, state.CheckRed); out.Task.State != state.Consultation {
		t.Errorf("the rule came again for the executor that has the work: %s", out.Rule)
	}
	wantEvents(t, ex, "check_failed", "reassign (on check_failed when same = 2 then executor claude-code:opus)", "claim", "check_started", "check_failed",
		"consult (on check_failed when same = 2 then consult)")
	if _, _, err := p.Human().AcceptConfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := enginetest.View(t, ex); now.Task.Assigned.Agent != "" || now.Top.Event != state.AcceptConfig {
		t.Errorf("%+v after %s", now.Task.Assigned, now.Top.Event)
	}
}

// TestARuleTakesTheWorkFromWhoWasRejected: nobody has the claim while it is reviewed, and the session that handed it in is meant.
func TestARuleTakesTheWorkFromWhoWasRejected(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, ruled(`on = "reject"; then = "executor claude-code"`))
	sup, ex := p.Begun()
	p.Write("code.txt", "two\n")
	enginetest.Submitted(t, ex)
	enginetest.Must2(sup.Review(t.Context()))(t)
	done := enginetest.Must(sup.Reject(t.Context(), "No.", ""))(t)
	if now := enginetest.View(t, ex).Task; now.State != state.Addressing || now.Assigned.Agent != "claude-code" {
		t.Fatalf("%s, %+v after %v", now.State, now.Assigned, done.Task.State)
	}
	if got, _, err := ex.AwaitTask(t.Context(), enginetest.Brief, true); got != nil || err != nil {
		t.Errorf("the rejected executor has the work again: %+v, %v", got, err)
	}
	enginetest.Refused(t, enginetest.Second(ex.Progress(t.Context(), "still here")), refusal.LeaseLost, "a rule of the project gave the work to claude-code")
	enginetest.Claim(t, p.Executor("claude-code"))
}

// TestARuleApproves: only what it names, checked and unchanged.
func TestARuleApproves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work    func(p *enginetest.Machine)
		approve bool
	}{
		"docs":               {func(p *enginetest.Machine) { p.Write("docs/a.md", "a"); p.Write("docs/b/c", "c"); p.Write("x.md", "x") }, true},
		"docs and code":      {func(p *enginetest.Machine) { p.Write("docs/a.md", "a"); p.Write("code.txt", "two\n") }, false},
		"code into docs":     {func(p *enginetest.Machine) { p.Write("docs/code.txt", "one\n"); p.Remove("code.txt") }, false},
		"docs out of docs":   {func(p *enginetest.Machine) { p.Write("guide.txt", "guide\n"); p.Remove("docs/guide.txt") }, false},
		"nothing":            {func(p *enginetest.Machine) {}, false},
		"a new ignored file": {func(p *enginetest.Machine) { p.Write("docs/.gitignore", "hidden.md\n"); p.Write("docs/hidden.md", "") }, false},
		"a hidden character": {func(p *enginetest.Machine) { p.Write("docs/a.md", "a\u202eb\n") }, false},
		"a commit between": {func(p *enginetest.Machine) {
			p.Write("docs/a.md", "a")
			p.Git("add", "docs/a.md")
			p.Git("commit", "-qm", "a")
		}, false},
		"lines of Windows": {func(p *enginetest.Machine) { p.Write("docs/a.md", "a ⚠️\r\n") }, true},
		"a file of docs":   {func(p *enginetest.Machine) { p.Remove("docs/guide.txt"); p.Write("docs/guide.md", "guide\n") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Repository(t, ruled(approveDocs))
			p.Write("docs/guide.txt", "guide\n")
			p.Git("add", "docs")
			p.Git("commit", "-q", "-m", "docs")
			_, ex := p.Begun()
			c.work(p)
			out := enginetest.Submitted(t, ex)
			want := state.Reviewing
			if c.approve {
				want = state.Complete
			}
			snap := enginetest.WantState(t, ex, want)
			if (out.Rule != "") != c.approve || out.Task.State != want {
				t.Errorf("%s by %q", out.Task.State, out.Rule)
			}
			if !c.approve {
				return
			}
			if a := snap.Top.Actor; a.Role != state.Engine || a.Agent != "ferrus" || snap.Top.Note != "s1 by a rule of the project" {
				t.Errorf("%+v %s", a, snap.Top.Note)
			}
			same := enginetest.Unchanged(t, ex)
			if again := enginetest.Submitted(t, ex); !again.Repeated {
				t.Error("the same submission once more is another")
			}
			same()
		})
	}
}

// TestAnApprovalByARuleNeedsTheCheckedFiles: a rule that was due before a crash is not followed when they have changed.
func TestAnApprovalByARuleNeedsTheCheckedFiles(t *testing.T) {
	t.Parallel()
	submit := func(next *state.Task) {
		next.Issued.Submissions++
		next.Submission = state.Submission{ID: "s1", Tree: next.Check.Tree, Base: next.BaseTree}
	}
	for name, c := range map[string]struct {
		after   func(p *enginetest.Machine)
		lay     func(*state.Task)
		approve bool
	}{
		"as submitted":    {func(*enginetest.Machine) {}, submit, true},
		"edited":          {func(p *enginetest.Machine) { p.Write("docs/a.md", "other") }, submit, false},
		"another file":    {func(p *enginetest.Machine) { p.Write("code.txt", "other") }, submit, false},
		"touched":         {func(*enginetest.Machine) {}, func(next *state.Task) { submit(next); next.Check.Touched = "code.txt" }, false},
		"another gate":    {func(*enginetest.Machine) {}, func(next *state.Task) { submit(next); next.Check.Gate = strings.Repeat("0", 64) }, false},
		"another tree":    {func(*enginetest.Machine) {}, func(next *state.Task) { submit(next); next.Check.Tree = next.BaseTree }, false},
		"failed since":    {func(*enginetest.Machine) {}, func(next *state.Task) { submit(next); next.Check.Status = state.CheckRed }, false},
		"not known where": {func(*enginetest.Machine) {}, func(next *state.Task) { submit(next); next.Submission.Base = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Repository(t, ruled(approveDocs))
			_, ex := p.Begun()
			p.Write("docs/a.md", "a")
			enginetest.Check(t, ex, state.CheckGreen)
			happens(t, ex, state.Submit, state.Holder, c.lay)
			c.after(p)
			snap := enginetest.Must(p.Supervisor().Engine().FollowRules(t.Context()))(t)
			if (snap.Task.State == state.Complete) != c.approve {
				t.Errorf("the task is %s", snap.Task.State)
			}
		})
	}
}

// TestAKillBetweenEventAndRuleLosesNeither: the next act, or wait, follows the rule first.
func TestAKillBetweenEventAndRuleLosesNeither(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, next := range map[string]func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error{
		"the holder": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			return enginetest.Second(ex.Progress(ctx, "on"))
		},
		"the holder checks": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			_, err := ex.Check(ctx, kit.Patience)
			enginetest.Refused(t, err, refusal.WrongState)
			return nil
		},
		"another executor": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			enginetest.Dies(t, ex)
			_, _, err := p.Executor("qwen").AwaitTask(ctx, enginetest.Brief, false)
			return err
		},
		"a supervisor that waits": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			return enginetest.Second(p.Supervisor().AwaitReview(ctx, kit.Patience))
		},
		"a person": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			return enginetest.Second(p.Human().Steer(ctx, "Go on."))
		},
		"the conductor": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			return enginetest.Second(p.Engine().FollowRules(ctx))
		},
		"a person who edited a control file": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			p.Write(".ferrus/TASK.md", "Do nothing.\n")
			return enginetest.Second(p.Human().Steer(ctx, "Go on."))
		},
		"several": func(t *testing.T, p *enginetest.Machine, ex *engine.Session) error {
			done := make(chan error)
			for range 4 {
				e := p.Engine()
				go func() { done <- enginetest.Second(e.FollowRules(ctx)) }()
			}
			for range 4 {
				if err := <-done; err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Repository(t, ruled(consultAtTwo))
			_, ex := p.Begun()
			p.Write("red", "")
			enginetest.Check(t, ex, state.CheckRed)
			happens(t, ex, state.CheckStarted, state.Holder, func(next *state.Task) { next.Check.Status = state.CheckRunning })
			happens(t, ex, state.CheckFailed, state.Engine, func(next *state.Task) { next.Check.Status = state.CheckRed; next.Check.Same = 2 })
			if err := next(t, p, ex); err != nil {
				t.Fatal(err)
			}
			var after []state.Event
			for _, l := range enginetest.History(t, p.Human().Engine()) {
				if after = append(after, l.Event); l.Event == state.CheckFailed {
					after = nil
				}
			}
			after = slices.DeleteFunc(after, func(ev state.Event) bool { return ev == state.Violation })
			if len(after) == 0 || after[0] != state.Consult || slices.Contains(after[1:], state.Consult) {
				t.Errorf("after the failed check: %v", after)
			}
		})
	}
}

// TestNoRuleFollowsARule, a repair of one, or anything else than the newest event.
func TestNoRuleFollowsARule(t *testing.T) {
	enginetest.InFiles(t, "it edits TASK.md")
	t.Parallel()
	p := enginetest.Repository(t, ruled(`on = "reject"; then = "executor claude-code:opus"`, `on = "submit"; when = { paths = ["nothing"] }; then = "ask_human"`))
	sup, ex := p.Reviewing()
	enginetest.Must(sup.Reject(t.Context(), "No.", ""))(t)
	wantEvents(t, ex, "submit", "reject", "reassign (on reject then executor claude-code:opus)")
	same := enginetest.Unchanged(t, ex)
	enginetest.Must(p.Engine().FollowRules(t.Context()))(t)
	same()
	p.Write(".ferrus/TASK.md", "Do nothing.\n")
	enginetest.Must(p.Engine().FollowRules(t.Context()))(t)
	next := p.Executor("claude-code")
	enginetest.Claim(t, next)
	wantEvents(t, ex, "reassign (on reject then executor claude-code:opus)", "violation", "claim")
}

// TestAnExecutorGainsNothingFromItsOwnRules: those of the work tree are not those of the task.
func TestAnExecutorGainsNothingFromItsOwnRules(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, ruled(consultAtTwo))
	sup, ex := p.Begun()
	p.Write("ferrus.toml", ruled(`on = "submit"; when = { paths = ["**"] }; then = "approve"`)+"[limits]\nmax_same_failure = 99\n")
	p.Write("code.txt", "two\n")
	enginetest.Submitted(t, ex)
	enginetest.WantState(t, ex, state.Reviewing)
	enginetest.Must2(sup.Review(t.Context()))(t)
	enginetest.Must(sup.Reject(t.Context(), "No.", ""))(t)
	enginetest.Claim(t, ex)
	p.Write("red", "")
	enginetest.Check(t, ex, state.CheckRed)
	if out := enginetest.Check(t, ex, state.CheckRed); out.Task.State != state.Consultation {
		t.Errorf("the frozen rule is gone: %s", out.Task.State)
	}
}

// TestRulesWithoutGitNeverApprove: nobody knows what has changed.
func TestRulesWithoutGitNeverApprove(t *testing.T) {
	t.Parallel()
	p := enginetest.Plain(t, ruled(`on = "submit"; when = { paths = ["**"] }; then = "approve"`))
	_, ex := p.Begun()
	p.Write("docs/a.md", "a")
	enginetest.Submitted(t, ex)
	enginetest.WantState(t, ex, state.Reviewing)
}

// TestTheDefaultRulesAreTheLimits: what is asked for without a line in ferrus.toml names its rule, too.
func TestTheDefaultRulesAreTheLimits(t *testing.T) {
	enginetest.InFiles(t, "it reads QUESTION.md")
	t.Parallel()
	p := enginetest.Plain(t, enginetest.Gate("test ! -e broken || exit 127; test ! -e red")+"[limits]\nmax_same_failure = 2\n")
	_, ex := p.Begun()
	p.Write("red", "")
	enginetest.Check(t, ex, state.CheckRed)
	if out := enginetest.Check(t, ex, state.CheckRed); !out.Asked || out.Rule != "on check_failed when same = 2 then ask_human" {
		t.Errorf("%q, asked %v", out.Rule, out.Asked)
	}
	enginetest.Must(p.Human().Answer(t.Context(), "", "Go on."))(t)
	p.Write("broken", "")
	for range rules.GateErrors - 1 {
		enginetest.Check(t, ex, state.CheckGateError)
	}
	if out := enginetest.Check(t, ex, state.CheckGateError); !out.Asked || out.Rule != "on check_void when errors = 3 then ask_human" {
		t.Errorf("%q, asked %v", out.Rule, out.Asked)
	}
	text, err := os.ReadFile(p.Path(".ferrus/QUESTION.md"))
	if err != nil || !strings.Contains(string(text), "The checks could not be run 3 times in a row.\n\n") || strings.Contains(string(text), "the gate could not run") {
		t.Errorf("%s %v", text, err)
	}
}

// TestAPersonIsAskedWhenTheChecksWriteNewFilesAgain: names that differ in a number become one line with a star, and others are all named.
func TestAPersonIsAskedWhenTheChecksWriteNewFilesAgain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"report-1.xml report-2.xml": "/report-*.xml", "tmp.1aB3 tmp.Q9x2": "/tmp.*", "one two": "/one\n    /two",
		"src/r1/x src/r2/x": "/src/r*/", "report-1.xml other": "/other\n    /report-1.xml"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Repository(t, enginetest.Gate(`f=$(cat which); mkdir -p "$(dirname "$f")" && echo >"$f"`))
			_, ex := p.Begun()
			names := strings.Fields(name)
			p.Write("src/kept", "")
			p.Write("which", names[0])
			if out := enginetest.Check(t, ex, state.CheckMoved); out.Asked {
				t.Fatalf("%+v", out.Task.Check)
			}
			p.Write("which", names[1])
			out := enginetest.Check(t, ex, state.CheckMoved)
			if !out.Asked {
				t.Fatalf("nobody was asked: %+v", out.Task.Check)
			}
			question := enginetest.Must(store.Text(ex.Engine().Store(), out.Snapshot, state.QuestionDoc))(t)
			if !strings.Contains(question, ":\n    "+want+"\n") {
				t.Errorf("the question lacks %q:\n%s", want, question)
			}
		})
	}
}

// TestAPersonIsAskedWhenTheChecksWriteTheSameFilesAgain: the first check names the line of .gitignore, the second in a row asks; other
// files that were there begin anew, and with the line the check counts. The count outlives the executor.
func TestAPersonIsAskedWhenTheChecksWriteTheSameFilesAgain(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("mkdir -p coverage && echo $$ >coverage/$(cat which)"))
	_, ex := p.Begun()
	p.Write("which", "a")
	if out := enginetest.Check(t, ex, state.CheckMoved); out.Asked || out.Task.Check.Written != "/coverage/" {
		t.Fatalf("%+v", out.Task.Check)
	}
	p.Write("coverage/b", "it was there")
	p.Write("which", "b")
	if out := enginetest.Check(t, ex, state.CheckMoved); out.Asked || out.Task.Check.Written != "/coverage/b" || out.Task.Check.Moved != 1 {
		t.Fatalf("other files: %+v", out.Task.Check)
	}
	enginetest.Must(p.Human().Release(t.Context(), "another"))(t)
	ex = p.Executor("codex")
	enginetest.Claim(t, ex)
	out := enginetest.Check(t, ex, state.CheckMoved)
	if !out.Asked || out.Rule != "on check_void when moved = 2 then ask_human" {
		t.Fatalf("%q, asked %v, %+v", out.Rule, out.Asked, out.Task.Check)
	}
	question := enginetest.Must(store.Text(ex.Engine().Store(), out.Snapshot, state.QuestionDoc))(t)
	for _, want := range []string{"2 times in a row", "coverage/b", "add to .gitignore at the top of the work tree:\n    /coverage/b\n"} {
		if !strings.Contains(question, want) {
			t.Errorf("the question lacks %q:\n%s", want, question)
		}
	}
	enginetest.Must(p.Human().Answer(t.Context(), "", "Try again."))(t)
	if out := enginetest.Check(t, ex, state.CheckMoved); !out.Asked { // not again and again for nothing
		t.Error("nobody was asked after an answer that changed nothing")
	}
	p.Write(".gitignore", ".ferrus\n/coverage/\n")
	enginetest.Must(p.Human().Answer(t.Context(), "", "It is ignored now."))(t)
	if out := enginetest.Check(t, ex, state.CheckGreen); out.Task.Check.Moved != 0 || out.Task.Check.Written != "" {
		t.Errorf("%+v", out.Task.Check)
	}
}
