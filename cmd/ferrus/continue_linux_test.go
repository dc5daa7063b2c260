package main

import (
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
	t.Helper()
	dir := playedProject(t)
	ferrusExits(t, dir, 0, "branch", "fix", "--task", "Fix the sum")
	ferrusExits(t, dir, 6, "resume", "--headless", "--branch", "fix")
	return dir
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
	t.Parallel()
	if testing.Short() {
		t.Skip("it plays half a task")
	}
	dir := asked(t)
	ends := make(chan string)
	commands := [][]string{{"answer", "q1", "1", "--resume"}, {"answer", "q1", "1", "--resume"}, {"resume", "--headless"}, {"resume", "--headless"}}
	for _, args := range commands {
		go func() {
			out, _ := ferrusIn(dir, append(args, "--branch", "fix")...).CombinedOutput()
			ends <- strings.Join(args, " ") + "\n" + string(out)
		}()
	}
	for range len(commands) - 1 { // the others: the reviewer of the play does not end
		<-ends
	}
	reviewing := func() bool {
		r := reportOf(t, dir, "fix")
		return r.State == state.Reviewing && r.Spent.Runs >= 3 && len(r.Agents) == 1 // the executor has left
	}
	for until := time.Now().Add(time.Minute); !reviewing(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%+v", reportOf(t, dir, "fix"))
		}
	}
	if r := reportOf(t, dir, "fix"); r.Conductor == 0 || len(r.Agents) != 1 || r.Spent.Runs != 3 {
		t.Errorf("conductor %d, %d runs, agents %+v", r.Conductor, r.Spent.Runs, r.Agents)
	}
	ferrusExits(t, dir, 0, "stop", "--branch", "fix")
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
	out := ferrusExits(t, dir, 0, "answer", "1", "--resume", "--branch", "fix")
	if strings.Contains(out, "conductor is already running") || !strings.Contains(out, "q1 answered") {
		t.Error(out)
	}
	if r := reportOf(t, dir, "fix"); r.Spent.Runs != 1 {
		t.Errorf("%d runs", r.Spent.Runs)
	}
}

// TestAnAnswerForAgentsOfOnesOwnStartsNothing: a task whose agents a person starts has no run to continue.
func TestAnAnswerForAgentsOfOnesOwnStartsNothing(t *testing.T) {
	dir := playedProject(t)
	ferrusExits(t, dir, 0, "task", "Fix the sum")
	e, err := engine.Open(project.At(dir, ""), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	now, err := e.View()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Ask(t.Context(), now, "Which?", nil); err != nil {
		t.Fatal(err)
	}
	ferrusExits(t, dir, 0, "answer", "--resume", "this")
	if r := reportOf(t, dir, ""); r.State != state.Executing || r.Spent.Runs != 0 {
		t.Errorf("%s, %d runs", r.State, r.Spent.Runs)
	}
}
