//go:build unix

package main

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/delegate"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A partWalk has a task with a delegate.
type partWalk struct {
	*branchWalk
	whole *engine.Session // its executor
	name  string          // the branch of the delegate
}

func newPartWalk(t *testing.T) *partWalk {
	w := &partWalk{branchWalk: newBranchWalk(t)}
	w.write("ferrus.toml", strings.Replace(walkConfig, "[limits]\n", "[limits]\nmax_delegates = 2\nmax_executor_dispatches = 1\n", 1))
	w.must(agreement.Agree(w.dir))
	w.says("task", "make it so")
	var err error
	w.own, err = (&cli.App{Err: io.Discard}).OpenAt(project.At(w.dir, ""))
	w.must(err)
	t.Cleanup(func() { w.own.Close() })
	w.whole = w.own.Session(engine.Caller{Role: state.Executor, Agent: "executor:test:1"})
	_, _, err = w.whole.AwaitTask(t.Context(), time.Minute, true)
	w.must(err)
	_, c, err := delegate.Start(t.Context(), w.whole, "a part", "", time.Minute)
	w.must(err)
	w.name = c.Branch
	w.branch, err = branch.Open(w.own, w.name)
	w.must(err)
	t.Cleanup(func() { w.branch.Close() })
	w.executor = w.branch.Session(engine.Caller{Role: state.Executor, Agent: "executor:test:2"})
	return w
}

func (w *partWalk) submits() { w.claim(); w.submit() }

// leave ends the agents of the test.
func (w *partWalk) leave() {
	w.says("release")
	w.says("release", "--branch", w.name)
	w.branch.Close()
	w.own.Close()
}

// settles has the whole take note of how its part has ended.
func (w *partWalk) settles() { w.must(delegate.Settle(w.t.Context(), w.own, nil)) }

func (w *partWalk) report(branch ...string) (r status.Report) {
	w.t.Helper()
	text, exit := w.says(append([]string{"status", "--json"}, branch...)...)
	if exit != cli.ExitOK {
		w.t.Fatalf("status ends with %d: %s", exit, text)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		w.t.Fatalf("%v: %s", err, text)
	}
	return r
}

// partScenes are all states of a delegate; of each what the status of the whole says that it does.
var partScenes = map[string]struct {
	state state.State
	says  string
	lead  func(w *partWalk)
}{
	"nobody has come": {state.Executing, "works", func(*partWalk) {}},
	"at work":         {state.Executing, "works", func(w *partWalk) { w.claim() }},
	"sent back": {state.Addressing, "works", func(w *partWalk) {
		w.submits()
		w.says("reject", "--branch", w.name, "-m", "no")
	}},
	"checked": {state.Checking, "works", func(w *partWalk) {
		w.claim()
		_, err := w.executor.Check(w.t.Context(), time.Minute)
		w.must(err)
	}},
	"it asks": {state.Consultation, "asks its executor c1", func(w *partWalk) {
		w.claim()
		_, err := w.executor.Consult(w.t.Context(), engine.Consulting{Problem: "p", Tried: "t", Question: "q"})
		w.must(err)
	}},
	"submitted": {state.Reviewing, "has submitted s1", (*partWalk).submits},
	"it would need a person": {state.AwaitingHuman, "has stopped", func(w *partWalk) {
		now, err := w.branch.View()
		w.must(err)
		_, err = w.branch.Ask(w.t.Context(), now, "It cannot work.", nil)
		w.must(err)
	}},
	"it needed a person": {state.AwaitingHuman, "has ended: failed", func(w *partWalk) {
		now, err := w.branch.View()
		w.must(err)
		_, err = w.branch.Ask(w.t.Context(), now, "It cannot work.", nil)
		w.must(err)
		w.settles()
	}},
	"failed": {state.Failed, "has stopped", func(w *partWalk) {
		for range 2 {
			w.submits()
			if out, exit := w.says("reject", "--branch", w.name, "-m", "no"); exit != cli.ExitOK {
				w.t.Fatalf("reject ends with %d: %s", exit, out)
			}
		}
	}},
	"reset": {state.Idle, "has stopped", func(w *partWalk) { w.says("reset", "--yes", "--branch", w.name) }},
	"lost":  {state.Idle, "has ended: lost", func(w *partWalk) { w.says("reset", "--yes", "--branch", w.name); w.settles() }},
	"in": {state.Complete, "", func(w *partWalk) {
		w.submits()
		_, due, err := delegate.Wait(w.t.Context(), w.whole, "d1", time.Minute)
		w.must(err)
		w.whole.ShowDelegate(due.ID, due.On)
		_, _, err = delegate.Decide(w.t.Context(), w.whole, "d1", state.RuledApprove, "", "", time.Minute)
		w.must(err)
	}},
}

// TestNothingThatIsSuggestedForADelegateIsRefused, in any of its states: each command that changes something is tried on a delegate of its own. Nothing
// says that a supervisor or a person decides, and the whole says what its part does.
func TestNothingThatIsSuggestedForADelegateIsRefused(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, name := range slices.Sorted(maps.Keys(partScenes)) {
		if !kit.Every(4, i) {
			continue
		}
		scene := partScenes[name]
		t.Run(name, func(t *testing.T) {
			var w *partWalk // nil after a command that changes something
			var r status.Report
			for i := 0; i == 0 || i < len(r.Next); i++ {
				if w == nil {
					w = newPartWalk(t)
					scene.lead(w)
					r = w.report("--branch", w.name)
				}
				if r.State != scene.state {
					t.Fatalf("the delegate is %s, not %s", r.State, scene.state)
				}
				if i == 0 {
					w.shows(r, scene.says)
				}
				if len(r.Next) == 0 {
					break
				}
				command := strings.NewReplacer(`"..."`, "go-on", " "+w.name, " D", w.dir, "P").Replace(r.Next[i].Command)
				seen[command] = true
				args := strings.Fields(strings.NewReplacer(`"..."`, "go-on").Replace(r.Next[i].Command))[1:]
				resumes := slices.Contains(args, "resume")
				if resumes { // its agents end at once
					w.leave()
				}
				if out, exit := w.says(args...); exit == cli.ExitState || exit == cli.ExitUsage || exit == cli.ExitFailure && !resumes {
					t.Errorf("%s ends with %d: %s", r.Next[i].Command, exit, out)
				}
				if !slices.ContainsFunc(args, func(arg string) bool { return arg == "log" || arg == "diff" }) {
					w = nil
				}
			}
		})
	}
	for _, command := range []string{"ferrus -C P resume", "ferrus log --branch D", "ferrus diff --branch D", "ferrus reject --branch D -m go-on", "ferrus release --branch D", "ferrus branch --remove D", "ferrus branch --remove D --force"} {
		if !seen[command] && kit.Named() {
			t.Errorf("%s was never suggested, but %v", command, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// shows looks at what is said of a delegate whose report is r.
func (w *partWalk) shows(r status.Report, does string) {
	w.t.Helper()
	text, _ := w.says("status", "--branch", w.name)
	for _, wrong := range []string{"supervisor", "or yours", "for you", "ferrus approve", "ferrus answer", "ferrus merge", "ferrus resume --branch " + w.name} {
		if strings.Contains(text, wrong) {
			w.t.Errorf("its status says %q:\n%s", wrong, text)
		}
	}
	read, err := status.Read(w.branch)
	w.must(err)
	for _, a := range read.Acts() {
		if slices.Contains([]string{"approve", "select", "answer", "merge", "resume"}, a.Name) {
			w.t.Errorf("it offers %v", a)
		}
	}
	said := strings.Join(w.report().Notices, "\n")
	if !strings.Contains(said, does) || does == "" && strings.Contains(said, "delegate") {
		w.t.Errorf("the whole says %q, and not that it %s", said, does)
	}
	if does == "" || strings.HasPrefix(does, "has ended") {
		return
	}
	out, exit := w.says("resume", "--headless", "--branch", w.name)
	if exit != cli.ExitState || !strings.Contains(out, "run ferrus -C "+w.dir+" resume\n") || strings.Contains(out, "differs") {
		w.t.Errorf("a run of it ends with %d: %s", exit, out)
	}
}

// TestAnAnswerToAPartThatHasEndedContinuesNothing: the whole does not wait for it.
func TestAnAnswerToAPartThatHasEndedContinuesNothing(t *testing.T) {
	w := newPartWalk(t)
	partScenes["it needed a person"].lead(w)
	w.leave()
	w.says("resume", "--headless") // its agent ends at once, and a person is asked
	w.says("answer", "go-on")
	if r := w.report(); r.Spent.Runs != 1 || !r.Resumable() {
		t.Fatalf("the whole is %s after %d runs", r.State, r.Spent.Runs)
	}
	if out, exit := w.says("answer", "--resume", "--branch", w.name, "go-on"); exit != cli.ExitOK {
		t.Errorf("exit code %d: %s", exit, out)
	}
	if n := w.report().Spent.Runs; n != 1 {
		t.Errorf("the whole has had %d runs", n)
	}
}

// TestTheRunOfTheWholeIsThatOfItsDelegates: while it works, nothing suggests to start another.
func TestTheRunOfTheWholeIsThatOfItsDelegates(t *testing.T) {
	w := newPartWalk(t)
	for _, working := range []bool{false, true} {
		if working {
			lock, err := conductor.Hold(project.At(w.dir, "").Dir())
			w.must(err)
			defer lock.Close()
		}
		r := w.report("--branch", w.name)
		suggested := slices.ContainsFunc(r.Next, func(s status.Step) bool { return strings.Contains(s.Command, " resume") })
		if suggested == working || (r.Conductor != 0) != working {
			t.Errorf("a run works: %v; it suggests %v, and names process %d", working, r.Next, r.Conductor)
		}
	}
}
