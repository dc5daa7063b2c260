//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/cli/root"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// A branchWalk leads a branch through its states, with whatever ferrus prints on the way.
type branchWalk struct {
	t           *testing.T
	dir         string
	own, branch *engine.Engine
	executor    *engine.Session
	suggested   []status.Step                 // by status, now
	ran         map[string]bool               // verbs of the commands that were followed
	refused     map[state.State][]state.Event // verbs that were refused
}

const walkConfig = `[checks]
commands = ["test ! -e red"]
[limits]
max_same_failure = 1
max_review_cycles = 2
[hq.supervisor]
agent = "command"
command = "true"
[hq.executor]
agent = "command"
command = "true"
`

func newBranchWalk(t *testing.T) *branchWalk {
	dir := filepath.Join(t.TempDir(), "p")
	w := &branchWalk{t: t, dir: dir, ran: map[string]bool{}, refused: map[state.State][]state.Event{}}
	w.must(os.Mkdir(dir, 0o755))
	w.write("ferrus.toml", walkConfig)
	for _, args := range []string{"init -q", "add .", "-c user.name=t -c user.email=t@example.com commit -q -m begin"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	sharedtest.Init(t, dir)
	w.must(agreement.Agree(dir))
	return w
}

func (w *branchWalk) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *branchWalk) write(name, text string) {
	w.t.Helper()
	w.must(os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644))
}

// open opens the state of branch the branch as an agent's server would, and that of the project.
func (w *branchWalk) open() {
	w.t.Helper()
	for at, e := range map[string]**engine.Engine{"": &w.own, "b": &w.branch} {
		var err error
		*e, err = engine.Open(project.At(w.dir, at), engine.Options{})
		w.must(err)
		w.t.Cleanup(func() { (*e).Close() })
	}
	w.executor = w.branch.Session(engine.Caller{Role: state.Executor, Agent: "executor:test:1"})
}

// says runs a command line without a terminal.
func (w *branchWalk) says(args ...string) (out string, exit int) {
	w.t.Helper()
	var b bytes.Buffer
	exit = root.Run(&cli.App{In: strings.NewReader(""), Out: &b, Err: &b}, w.t.Context(), append([]string{"-C", w.dir}, args...))
	return b.String(), exit
}

// run is says for the walk of one branch. What a command prints must name the branch in every command.
func (w *branchWalk) run(args ...string) (out string, exit int) {
	w.t.Helper()
	out, exit = w.says(args...)
	if bare := refusal.Bare(out); bare != nil {
		w.t.Errorf("ferrus %s prints %q without its branch:\n%s", strings.Join(args, " "), bare, out)
	}
	return out, exit
}

func (w *branchWalk) seq(e *engine.Engine) uint64 {
	w.t.Helper()
	now, err := e.View()
	w.must(err)
	return now.Task.Seq
}

// verbs are acts of a person, each with the event without which it is refused.
var verbs = []struct {
	line string
	ev   state.Event
}{{"answer yes", state.Answer}, {"approve", state.Approve}, {"reject -m no", state.Reject}, {"reopen -m more", state.Reopen},
	{"release", state.Release}, {"run more", state.CreateTask}, {"task more", state.CreateTask}, {"send more", state.Reopen}}

// look has everything printed that the branch can be asked in its state, and finds what status suggests.
func (w *branchWalk) look(want state.State) {
	w.t.Helper()
	now, err := w.branch.View()
	w.must(err)
	if now.Task.State != want {
		w.t.Fatalf("the branch is %s, not %s", now.Task.State, want)
	}
	w.run("status", "--branch", "b")
	can := append(state.Allowed(now.Task, state.Human), w.refused[want]...)
	for i, v := range verbs {
		if slices.Contains(can, v.ev) || v.ev == state.Answer && slices.Contains(can, state.RespondConsult) {
			continue
		}
		w.refused[want] = append(w.refused[want], v.ev) // once a state is enough
		args := append(strings.Fields(v.line), "--branch", "b")
		if i%2 == 0 {
			args = append(args, "--json")
		}
		if out, exit := w.run(args...); exit == cli.ExitOK {
			w.t.Errorf("ferrus %s in %s: %s", v.line, want, out)
		}
	}
	if want == state.AwaitingHuman || want.Over() { // a run is over at once
		if out, exit := w.run("resume", "--headless", "--branch", "b"); !strings.Contains(out, "next ") {
			w.t.Errorf("a run ends with %d and suggests nothing: %s", exit, out)
		}
	}
	text, _ := w.run("status", "--json", "--branch", "b")
	var r status.Report
	w.must(json.Unmarshal([]byte(text), &r))
	w.suggested = r.Next
	for _, s := range r.Next { // what only reads may be run wherever it is suggested
		if verb := strings.Fields(s.Command)[1]; (verb == "log" || verb == "diff") && !w.ran[verb] {
			w.follow(s.Command)
		}
	}
}

// follow runs a command that status suggests as it is printed, with a text where it has "...".
func (w *branchWalk) follow(command string, more ...string) {
	w.t.Helper()
	if !slices.ContainsFunc(w.suggested, func(s status.Step) bool { return s.Command == command }) {
		w.t.Fatalf("%q is not suggested, but %v", command, w.suggested)
	}
	args := strings.Fields(strings.NewReplacer(`"..."`, "go-on", `"what is to be done"`, "another").Replace(command))
	own, branch := w.seq(w.own), w.seq(w.branch)
	out, exit := w.run(append(args[1:], more...)...)
	w.ran[args[1]] = true
	reads := args[1] == "log" || args[1] == "diff"
	switch {
	case exit != cli.ExitOK:
		w.t.Errorf("%s ends with %d: %s", command, exit, out)
	case args[1] != "merge" && w.seq(w.own) != own:
		w.t.Errorf("%s acts on the project", command)
	case !reads && w.seq(w.branch) == branch:
		w.t.Errorf("%s does not act on the branch: %s", command, out)
	}
}

// claim has the executor claim the work.
func (w *branchWalk) claim() {
	w.t.Helper()
	got, _, err := w.executor.AwaitTask(w.t.Context(), time.Minute, true)
	w.must(err)
	if got == nil {
		w.t.Fatal("there is nothing to claim")
	}
}

func (w *branchWalk) submit() {
	w.t.Helper()
	done, err := w.executor.Submit(w.t.Context(), engine.Submitting{Summary: "s", Verification: "v", NoChange: "n"}, time.Minute)
	w.must(err)
	if !done.Accepted {
		w.t.Fatalf("not submitted: %s", done.Gate.Status)
	}
}

func (w *branchWalk) ask(options ...string) {
	w.t.Helper()
	_, err := w.executor.AskHuman(w.t.Context(), "Which?", options)
	w.must(err)
}

// TestEveryCommandThatIsSuggestedForABranchActsOnIt: status, log, run, acts and errors, as text and as JSON, name the branch in
// every command that acts on one machine, in every state; and what status suggests does on the branch what it says.
func TestEveryCommandThatIsSuggestedForABranchActsOnIt(t *testing.T) {
	t.Parallel()
	w := newBranchWalk(t)
	w.run("task", "--branch", "b", "make it so")
	w.open()
	w.look(state.Executing)
	w.claim()
	for _, line := range []string{"log --json", "branches", "status --all", "answer", "show 999", "diff 999", "config check"} {
		w.run(append(strings.Fields(line), "--branch", "b")...)
	}
	w.look(state.Executing)
	w.follow("ferrus release --branch b")
	w.claim()

	red := filepath.Join(".ferrus", "worktrees", "b", "red")
	w.write(red, "")
	_, err := w.executor.Check(t.Context(), time.Minute)
	w.must(err)
	w.look(state.AwaitingHuman) // the engine itself has asked
	w.follow(`ferrus answer --branch b "..."`)
	w.look(state.Addressing)
	_, err = w.executor.Consult(t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"})
	w.must(err)
	w.look(state.Consultation)
	w.follow(`ferrus answer --branch b "..."`)
	w.look(state.Consultation)
	_, _, err = w.executor.AwaitResponse(t.Context(), time.Minute)
	w.must(err)
	w.ask("this", "that")
	w.look(state.AwaitingHuman)
	w.run("answer", "--branch", "b", "9")
	w.follow("ferrus answer --branch b 1")

	w.must(os.Remove(filepath.Join(w.dir, red)))
	_, err = w.executor.Check(t.Context(), time.Minute)
	w.must(err)
	w.look(state.Checking)
	w.submit()
	w.look(state.Reviewing)
	w.follow(`ferrus reject --branch b -m "..."`)
	w.look(state.Addressing)
	w.claim()
	w.submit()
	w.look(state.Reviewing)
	w.follow(`ferrus reject --branch b -m "..."`)
	w.look(state.Failed)
	w.follow(`ferrus reopen --branch b -m "..."`)
	w.look(state.Addressing)
	w.write("ferrus.toml", strings.Replace(walkConfig, "max_review_cycles = 2", "max_review_cycles = 4", 1))
	w.look(state.Addressing)
	w.follow("ferrus config accept --branch b")

	w.write(filepath.Join(".ferrus", "worktrees", "b", "made"), "so\n")
	w.claim()
	w.submit()
	w.look(state.Reviewing)
	w.follow("ferrus approve --branch b")
	w.look(state.Complete)
	w.follow("ferrus merge b")
	w.look(state.Complete)
	if !slices.ContainsFunc(w.suggested, func(s status.Step) bool { return s.Command == "ferrus branch --remove b" }) {
		t.Errorf("a merged branch is not to be removed: %v", w.suggested)
	}
	w.run("reset", "--branch", "b")
	w.run("reset", "--branch", "b", "--yes")
	w.look(state.Idle)
	w.follow(`ferrus task --branch b "what is to be done"`)
	w.look(state.Executing)
}
