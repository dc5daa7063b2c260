package engine_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/engine/enginetest"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// S1-10.
func TestAGreenCheckIsTrustedForItsTreeAndItsGateOnly(t *testing.T) {
	for name, c := range map[string]struct {
		then func(p *enginetest.Machine)
		runs int
		red  bool
	}{
		"nothing":                    {func(*enginetest.Machine) {}, 1, false},
		"an edit":                    {func(p *enginetest.Machine) { p.Write("code.txt", "two\n") }, 2, false},
		"an edit that breaks it":     {func(p *enginetest.Machine) { p.Write("red", "") }, 2, true},
		"a new file":                 {func(p *enginetest.Machine) { p.Write("more.txt", "more\n") }, 2, false},
		"a file gone":                {func(p *enginetest.Machine) { p.Remove("code.txt") }, 2, false},
		"an edit undone":             {func(p *enginetest.Machine) { p.Write("code.txt", "two\n"); p.Write("code.txt", "one\n") }, 1, false},
		"a commit of the same tree":  {func(p *enginetest.Machine) { p.Git("add", "."); p.Git("commit", "-q", "-m", "mine") }, 1, false},
		"a file that git ignores":    {func(p *enginetest.Machine) { p.Write("made.o", "x") }, 1, false},
		"a file that checks ignore":  {func(p *enginetest.Machine) { p.Write("notes.log", "x") }, 1, false},
		"a gate accepted by a human": {func(p *enginetest.Machine) { p.Accept("test ! -e red", "true") }, 2, false},
		"a gate that it fails":       {func(p *enginetest.Machine) { p.Accept("false") }, 2, true},
		"a gate that nobody accepts": {func(p *enginetest.Machine) { p.Write("ferrus.toml", enginetest.Gate("false")) }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Repository(t, enginetest.Gate("test ! -e red")+`ignore = ["*.log", "ferrus.toml"]`)
			p.Write(".gitignore", "*.o\n")
			_, ex := p.Begun()
			enginetest.Check(t, ex, state.CheckGreen)
			c.then(p)
			out := enginetest.Must(ex.Submit(t.Context(), enginetest.Work, kit.Patience))(t)
			snap := enginetest.View(t, ex)
			if n := enginetest.Count(t, ex.Engine(), state.CheckStarted); n != c.runs {
				t.Errorf("the gate ran %d times, want %d", n, c.runs)
			}
			if c.red {
				if out.Accepted || snap.Task.State != state.Addressing || snap.Task.CheckRetries != 1 || out.Gate.Status != state.CheckRed {
					t.Errorf("red: %+v in %s", out.Gate, snap.Task.State)
				}
				return
			}
			if !out.Accepted || snap.Task.State != state.Reviewing || snap.Task.ClaimedBy != "" {
				t.Fatalf("not submitted: %+v in %s, held by %q", out.Gate, snap.Task.State, snap.Task.ClaimedBy)
			}
			if snap.Task.Submission.Tree != snap.Task.Check.Tree || snap.Task.Submission.Tree == "" {
				t.Errorf("submitted tree %q, checked %q", snap.Task.Submission.Tree, snap.Task.Check.Tree)
			}
		})
	}
}

func TestTheSubmittedTreeIsGreenEvenIfAPauseEndsMeanwhile(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("test ! -e red"))
	_, ex := p.Begun()
	enginetest.Check(t, ex, state.CheckGreen)
	enginetest.Must(ex.AskHuman(t.Context(), "Shall I?", nil))(t)
	paused := enginetest.View(t, ex)
	enginetest.Must(p.Human().Answer(t.Context(), "", "Do."))(t)
	p.Write("red", "")
	// The submission looked at the task while it was paused, and comes to commit when it no longer is.
	_, err := ex.HandIn(t.Context(), paused, false, "", "## Summary\n\nBuilt.\n")
	enginetest.Refused(t, err, refusal.TreeChanged, "submit again")
	enginetest.WantState(t, ex, state.Checking)
}

func TestCommitsOfTheAgentHideNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	sup, ex := p.Begun()
	p.Write("code.txt", "one\nbackdoor\n")
	p.Git("commit", "-q", "-a", "-m", "nothing to see")
	p.Write("more.txt", "more\n")
	enginetest.Submitted(t, ex)
	r, _ := enginetest.Must2(sup.Review(t.Context()))(t)
	patch := p.Read(r.Patch)
	for _, want := range []string{"+backdoor", "more.txt"} {
		if !strings.Contains(patch, want) {
			t.Errorf("the patch does not show %q:\n%s", want, patch)
		}
	}
	if !strings.Contains(r.Diffstat, "code.txt") || !strings.Contains(r.Diffstat, "more.txt") {
		t.Errorf("diffstat %q", r.Diffstat)
	}
}

func TestAGreenResultOfATreeThatMovedCountsForNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("cp side-effect made.txt 2>/dev/null; true"))
	_, ex := p.Begun()
	p.Write("side-effect", "1")
	out := enginetest.Check(t, ex, state.CheckMoved)
	if len(out.Changed) != 1 || out.Changed[0] != "made.txt" {
		t.Errorf("changed %q", out.Changed)
	}
	snap := enginetest.WantState(t, ex, state.Executing)
	if snap.Task.CheckRetries != 0 || snap.Task.Check.Status != state.CheckMoved {
		t.Errorf("%d retries, check %+v", snap.Task.CheckRetries, snap.Task.Check)
	}
	enginetest.Check(t, ex, state.CheckGreen) // made.txt is there now, and stays as it is
}

func TestARedResultCountsWhateverMoved(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("date +%N > made.txt; false"))
	_, ex := p.Begun()
	if out := enginetest.Check(t, ex, state.CheckRed); out.Task.CheckRetries != 1 {
		t.Errorf("%d retries", out.Task.CheckRetries)
	}
}

// S1-03 to S1-05, S1-17, S1-18.
func TestRetriesCountConsecutiveFailures(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate("test ! -e red")+"[limits]\nmax_check_retries = 3\n")
	sup, ex := p.Begun()
	red := func(want int) {
		t.Helper()
		p.Write("red", "")
		if out := enginetest.Check(t, ex, state.CheckRed); out.Task.CheckRetries != want || out.Task.State != state.Addressing {
			t.Fatalf("%d retries in %s, want %d", out.Task.CheckRetries, out.Task.State, want)
		}
		p.Remove("red")
	}
	red(1)
	red(2)
	if out := enginetest.Check(t, ex, state.CheckGreen); out.Task.CheckRetries != 0 || out.Task.State != state.Checking {
		t.Fatalf("%d retries in %s after a green check", out.Task.CheckRetries, out.Task.State)
	}
	red(1)
	red(2)
	enginetest.Submitted(t, ex)
	enginetest.Must2(sup.Review(t.Context()))(t)
	done := enginetest.Must(sup.Reject(t.Context(), "Not so.", ""))(t)
	if done.Task.CheckRetries != 0 || done.Task.ReviewCycles != 1 {
		t.Fatalf("after the rejection: %d retries, %d cycles", done.Task.CheckRetries, done.Task.ReviewCycles)
	}
	enginetest.Claim(t, ex)
	red(1)
	red(2)
	p.Write("red", "")
	out := enginetest.Must(ex.Submit(t.Context(), enginetest.Work, kit.Patience))(t) // S1-20: a gate inside submit spends like any other
	if out.Accepted || out.Task.State != state.Failed || out.Task.CheckRetries != 3 || out.Task.ClaimedBy != "" {
		t.Fatalf("the third red check leaves the task %s with %d retries, held by %q", out.Task.State, out.Task.CheckRetries, out.Task.ClaimedBy)
	}
	for _, want := range []string{"3 times in a row", "max_check_retries is 3", "test ! -e red"} {
		if !strings.Contains(out.Task.FailureReason, want) {
			t.Errorf("failure reason %q does not say %q", out.Task.FailureReason, want)
		}
	}
	if !ex.Engine().Place().Archived(out.Task.TaskID) {
		t.Error("the failed task is not archived")
	}
}

func TestFeedbackIsBoundedAndTheLogIsWhole(t *testing.T) {
	t.Parallel()
	p := enginetest.Repository(t, enginetest.Gate(`i=0; while [ $i -lt 500 ]; do printf '\033[31mline %d of this %200s\033[0m\n' $i x; i=$((i+1)); done; false`,
		"printf 'second\\n'; exit 3"))
	_, ex := p.Begun()
	out := enginetest.Check(t, ex, state.CheckRed)
	total := 0
	for _, f := range out.Failures {
		total += len(f.Tail)
		if n := strings.Count(f.Tail, "\n"); n > 30 {
			t.Errorf("%s: %d lines of feedback", f.Line, n)
		}
		if strings.Contains(f.Tail, "\x1b") || !utf8.ValidString(f.Tail) {
			t.Errorf("%s: the feedback is not clean: %q", f.Line, f.Tail)
		}
	}
	if len(out.Failures) != 2 || total > 10<<10 || !strings.Contains(out.Failures[0].Tail, "line 499") ||
		!strings.Contains(out.Failures[1].Tail, "second") || out.Failures[1].ExitCode != 3 {
		t.Errorf("%d failures, %d bytes", len(out.Failures), total)
	}
	if log := p.Read(ex.Engine().Place().Path(out.Task.Check.Log)); !strings.Contains(log, "line 0 of") || !strings.Contains(log, "line 250 of") {
		t.Errorf("the log has %d bytes and lacks lines", len(log))
	}
}
