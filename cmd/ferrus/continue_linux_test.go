package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
)

// asked is a project whose run on the branch fix has ended with a question.
func asked(t *testing.T) string {
	dir := playedProject(t)
	if out, err := ferrusIn(t.Context(), dir, "branch", "fix", "--task", "Fix the sum").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := ferrusIn(t.Context(), dir, "resume", "--headless", "--branch", "fix")
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 6 {
		t.Fatalf("exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
	return dir
}

func ferrusIn(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ferrus", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "FERRUS_AGENT=")
	return cmd
}

func reportOf(t *testing.T, dir, branch string) *status.Report {
	t.Helper()
	e, err := engine.Open(project.At(dir, branch), engine.Options{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := status.Read(e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAnswersAtOnceEndInOneRun: two people answer and continue while two others resume. One answer counts, one run works, and
// every agent is started once.
func TestAnswersAtOnceEndInOneRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays half a task")
	}
	dir := asked(t)
	ends := make(chan string)
	commands := [][]string{{"answer", "q1", "1", "--resume"}, {"answer", "q1", "1", "--resume"}, {"resume", "--headless"}, {"resume", "--headless"}}
	for _, args := range commands {
		go func() {
			out, _ := ferrusIn(context.Background(), dir, append(args, "--branch", "fix")...).CombinedOutput()
			ends <- strings.Join(args, " ") + "\n" + string(out)
		}()
	}
	for range len(commands) - 1 { // the others: the reviewer of the play does not end
		<-ends
	}
	reviewing := func() bool {
		r := reportOf(t, dir, "fix")
		return r.State == state.Reviewing && r.Spent.Runs >= 3 && len(r.Agents) > 0
	}
	for until := time.Now().Add(time.Minute); !reviewing(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%+v", reportOf(t, dir, "fix"))
		}
	}
	if r := reportOf(t, dir, "fix"); r.Conductor == 0 || len(r.Agents) != 1 || r.Spent.Runs != 3 {
		t.Errorf("conductor %d, %d runs, agents %+v", r.Conductor, r.Spent.Runs, r.Agents)
	}
	if out, err := ferrusIn(t.Context(), dir, "stop", "--branch", "fix").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	<-ends
}

// TestAnAnswerDuringARunStartsNothing: the run sees it.
func TestAnAnswerDuringARunStartsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays half a task")
	}
	dir := asked(t)
	lock, err := conductor.Hold(project.At(dir, "fix").Dir()) // a run, for all others
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	out, err := ferrusIn(t.Context(), dir, "answer", "1", "--resume", "--branch", "fix").CombinedOutput()
	if err != nil || strings.Contains(string(out), "conductor is already running") || !strings.Contains(string(out), "q1 answered") {
		t.Errorf("%v\n%s", err, out)
	}
	if r := reportOf(t, dir, "fix"); r.Spent.Runs != 1 {
		t.Errorf("%d runs", r.Spent.Runs)
	}
}

// TestAnAnswerForAgentsOfOnesOwnStartsNothing: a task whose agents a person starts has no run to continue.
func TestAnAnswerForAgentsOfOnesOwnStartsNothing(t *testing.T) {
	dir := playedProject(t)
	do := func(args ...string) string {
		t.Helper()
		out, err := ferrusIn(t.Context(), dir, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	do("task", "Fix the sum")
	e, err := engine.Open(project.At(dir, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Ask(t.Context(), must(e.View())(t), "Which?", nil); err != nil {
		t.Fatal(err)
	}
	do("answer", "--resume", "this")
	if r := reportOf(t, dir, ""); r.State != state.Executing || r.Spent.Runs != 0 {
		t.Errorf("%s, %d runs", r.State, r.Spent.Runs)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
