//go:build unix

package branch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/kit"
)

// toml has checks, and a score command.
func toml(command string) string {
	return enginetest.Gate("true") + fmt.Sprintf("[branches]\nscore = %q\n", command)
}

// attempts has branches of one task, each of which is approved with a file that holds its text.
func attempts(t *testing.T, toml string, texts ...string) (*enginetest.Machine, *engine.Session) {
	t.Helper()
	p := enginetest.Repository(t, toml)
	p.Begun()
	h := p.Human()
	var names []string
	for i := range texts {
		names = append(names, fmt.Sprintf("try.%d", i+1))
	}
	enginetest.Branched(t, h, branch.Fork{Names: names})
	for i, name := range names {
		if texts[i] != "" {
			p.On(name).Does("code.txt", texts[i]+"\n")
		}
	}
	return p, h
}

// all are the attempts as they compare.
func all(t *testing.T, h *engine.Session, names ...string) []branch.Attempt {
	t.Helper()
	list := branch.Attempts(t.Context(), h.Engine(), names)
	for _, a := range list {
		if a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	return list
}

// TestTheBestOfThreeIsTheOneWithTheHighestScore, by a command that reads the work of each. Its run leaves a log and one line
// in the journal, and no other fact of the task is changed. S2-18.
func TestTheBestOfThreeIsTheOneWithTheHighestScore(t *testing.T) {
	t.Parallel()
	p, h := attempts(t, toml("echo looking; cat code.txt"), "0.5", "12", "-3e2")
	names := []string{"try.1", "try.2", "try.3"}
	_, err := branch.Best(project.Place{}, all(t, h, names...))
	enginetest.Refused(t, err, refusal.WrongState, "no score counts for try.1, try.2, try.3", "ferrus branches --score")
	inDatabase := project.At(t.TempDir(), "")
	shared := filepath.Join(inDatabase.Root, project.DirName, project.SharedName)
	if err := errors.Join(os.Mkdir(filepath.Dir(shared), 0o700), os.WriteFile(shared, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	begun := all(t, h, names...)[:1]
	begun[0].State, begun[0].Snap.Task.State = state.Executing, state.Executing
	for at, command := range map[project.Place]string{{}: "finish them with ferrus run --parallel 2,", inDatabase: "finish them with ferrus node --max 2,"} {
		_, err := branch.Best(at, begun)
		enginetest.Refused(t, err, refusal.WrongState, "try.1 is Executing", command)
	}
	for i, want := range []float64{0.5, 12, -300} {
		s := p.On(names[i]).Human()
		before := enginetest.View(t, s)
		done := enginetest.Must(branch.Take(t.Context(), s))(t)
		is := done.Task.Score
		if is.Value != want || is.Tree != before.Task.Submission.Tree || is.Gate != before.Task.Pin.SHA256 {
			t.Errorf("%+v", is)
		}
		if done.Top.Event != state.Scored || done.Top.Actor.Role != state.Engine || done.Task.State != state.Complete {
			t.Errorf("%+v", done.Top)
		}
		log, err := os.ReadFile(s.Engine().Place().Path(filepath.FromSlash(is.Log)))
		if err != nil || !strings.Contains(string(log), "looking") {
			t.Errorf("%v: %s", err, log)
		}
	}
	list := all(t, h, names...)
	if list[1].Score == nil || *list[1].Score != 12 || list[1].Void {
		t.Errorf("%+v", list[1])
	}
	if best := enginetest.Must(branch.Best(project.Place{}, list))(t); best.Branch != "try.2" {
		t.Errorf("the best is %s", best.Branch)
	}
}

// TestAScoreOfAnotherTreeIsVoid: it is of what was scored, and of nothing that came later.
func TestAScoreOfAnotherTreeIsVoid(t *testing.T) {
	t.Parallel()
	p, h := attempts(t, toml("cat code.txt"), "1")
	one := p.On("try.1")
	enginetest.Must(branch.Take(t.Context(), one.Human()))(t)
	enginetest.Must(one.Human().Reopen(t.Context(), "More."))(t)
	if a := all(t, h, "try.1")[0]; a.Score == nil {
		t.Errorf("of the same files: %+v", a)
	}
	one.Write("code.txt", "2\n")
	if a := all(t, h, "try.1")[0]; a.Score != nil || !a.Void {
		t.Errorf("of files that were edited: %+v", a)
	}
	one.Does("code.txt", "3\n")
	a := all(t, h, "try.1")
	if a[0].Score != nil || !a[0].Void {
		t.Errorf("of other work: %+v", a[0])
	}
	_, err := branch.Best(project.Place{}, a)
	enginetest.Refused(t, err, refusal.WrongState, "no score counts for try.1")
	enginetest.Must(branch.Take(t.Context(), one.Human()))(t)
	if a := all(t, h, "try.1")[0]; a.Score == nil || *a.Score != 3 || a.Void {
		t.Errorf("scored again: %+v", a)
	}
}

// TestABranchCannotLoosenItsScore: the command is the one that was frozen with the task, whatever is written since, and
// another gate voids what the one before it gave.
func TestABranchCannotLoosenItsScore(t *testing.T) {
	t.Parallel()
	p, h := attempts(t, toml("cat code.txt"), "1")
	one := p.On("try.1")
	enginetest.Must(one.Human().Reopen(t.Context(), "More."))(t)
	one.Does("ferrus.toml", toml("echo 1000"))
	p.Write("ferrus.toml", toml("echo 1000"))
	if done := enginetest.Must(branch.Take(t.Context(), one.Human()))(t); done.Task.Score.Value != 1 {
		t.Errorf("scored %v", done.Task.Score.Value)
	}
	if diff, _, err := one.Human().AcceptConfig(t.Context()); err != nil || len(diff) != 1 || diff[0].Key != "branches.score" {
		t.Fatalf("%v, %v", diff, err)
	}
	if a := all(t, h, "try.1")[0]; a.Score != nil || !a.Void {
		t.Errorf("by another gate: %+v", a)
	}
	if done := enginetest.Must(branch.Take(t.Context(), one.Human()))(t); done.Task.Score.Value != 1000 {
		t.Errorf("scored %v", done.Task.Score.Value)
	}
}

// TestWhatIsNoNumberIsRefused, with what the command printed and what to do; nothing is entered.
func TestWhatIsNoNumberIsRefused(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ command, want string }{
		{"echo NaN", `printed "NaN" last, which is not a finite number`},
		{"echo -nan", `printed "-nan" last, which is not a number`},
		{"echo Inf", "not a finite number"},
		{"echo -infinity", "not a finite number"},
		{"echo 1e999", "not a finite number"},
		{"echo 1; echo better", `printed "better" last, which is not a number`},
		{"echo 1 2", "not a number"},
		{"true", "printed nothing"},
		{"echo 7; exit 3", "did not exit with 0: sh say: exit status 3"},
		{"exit 127", "could not run"},
	} {
		if !kit.Every(3, i) {
			continue
		}
		p, _ := attempts(t, toml(c.command), "1")
		s := p.On("try.1").Human()
		same := enginetest.Unchanged(t, s)
		_, err := branch.Take(t.Context(), s)
		want := strings.ReplaceAll(c.want, "sh say", c.command)
		enginetest.Refused(t, err, refusal.InvalidInput, want, "[branches] score in ferrus.toml", "ferrus config accept --branch try.1", "-score")
		same()
	}
}

// TestOnlyCheckedWorkIsScored, and only as it was checked.
func TestOnlyCheckedWorkIsScored(t *testing.T) {
	t.Parallel()
	p, h := attempts(t, toml("sh score.sh"), "", "1")
	_, err := branch.Take(t.Context(), p.On("try.1").Human())
	enginetest.Refused(t, err, refusal.WrongState, "no checked work to score: the task is Executing")
	_, err = branch.Best(project.Place{}, all(t, h, "try.1", "try.2"))
	enginetest.Refused(t, err, refusal.WrongState, "not all attempts have ended: try.1 is Executing")

	two := p.On("try.2")
	two.Write("code.txt", "9\n")
	_, err = branch.Take(t.Context(), two.Human())
	enginetest.Refused(t, err, refusal.TreeChanged, "the work tree is not the one that was checked: code.txt")

	p, _ = attempts(t, toml("echo 5; echo more >>code.txt"), "1")
	_, err = branch.Take(t.Context(), p.On("try.1").Human())
	enginetest.Refused(t, err, refusal.TreeChanged, "changed while the score was taken: code.txt")

	p, _ = attempts(t, enginetest.Gate("true"), "1")
	_, err = branch.Take(t.Context(), p.On("try.1").Human())
	enginetest.Refused(t, err, refusal.InvalidInput, "no score command is frozen with the task", "set [branches] score")
}

// TestScoresOfDifferentGatesAreNotCompared: their numbers may mean different things.
func TestScoresOfDifferentGatesAreNotCompared(t *testing.T) {
	t.Parallel()
	p, h := attempts(t, toml("cat code.txt"), "1", "2")
	p.Write("ferrus.toml", toml("echo 0"))
	enginetest.Must2(p.On("try.2").Human().AcceptConfig(t.Context()))(t)
	for _, name := range []string{"try.1", "try.2"} {
		enginetest.Must(branch.Take(t.Context(), p.On(name).Human()))(t)
	}
	_, err := branch.Best(project.Place{}, all(t, h, "try.1", "try.2"))
	enginetest.Refused(t, err, refusal.WrongState, "try.1 and try.2 were scored with different frozen settings", "ferrus select NAME")
}

// TestAScoreRunsInThePrivateCheckout where the checks do, with their environment and time limit.
func TestAScoreRunsInThePrivateCheckout(t *testing.T) {
	t.Parallel()
	conf := strings.Replace(toml(`test "$HELD" = yes && case "$PWD" in *worktrees*) echo 0;; *) cat code.txt;; esac`), "[branches]",
		"where = \"clean\"\n[checks.env]\nHELD = \"yes\"\n[branches]", 1)
	p, _ := attempts(t, conf, "4")
	one := p.On("try.1")
	one.Write("code.txt", "not what was submitted\n")
	if done := enginetest.Must(branch.Take(t.Context(), one.Human()))(t); done.Task.Score.Value != 4 {
		t.Errorf("scored %v", done.Task.Score.Value)
	}
	p, _ = attempts(t, strings.Replace(toml("echo 1; sleep 60"), "[branches]", "timeout_secs = 1\n[branches]", 1), "4")
	_, err := branch.Take(t.Context(), p.On("try.1").Human())
	enginetest.Refused(t, err, refusal.InvalidInput, "killed at its time limit")
}
