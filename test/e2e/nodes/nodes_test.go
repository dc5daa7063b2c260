//go:build linux

package nodes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
)

// hold makes the executor of a branch wait after its next step, until the function is called.
func (w *world) hold(branch string) (release func()) {
	path := filepath.Join(w.side, "hold-"+branch)
	w.must(os.WriteFile(path, nil, 0o600))
	return func() { w.must(os.Remove(path)) }
}

// halfDone makes two computers. The node of a has done the first of two steps of a task on the branch one, and waits until release is called.
func halfDone(t *testing.T) (w *world, release func()) {
	t.Helper()
	w = newWorld(t, "a", "b")
	release = w.hold("one")
	w.nodes[0].run("branch", "one", "--task", "steps 2")
	w.nodes[0].start()
	w.until("the first step is done", func() bool { return len(w.lines("steps", "one 1 a")) == 1 })
	return w, release
}

// claims makes a branch with a task of one step, which an executor of the computer has claimed.
func (n *node) claims(branch string) *actor {
	n.w.t.Helper()
	n.run("branch", branch, "--task", "steps 1")
	executor := n.agent("executor", branch)
	if res := executor.call("wait_for_task", nil); res.Status != "claimed" {
		n.w.t.Fatalf("%+v", res)
	}
	return executor
}

// steps reads what the executors of a branch have written, as it is on the computer.
func (n *node) steps(branch string) ([]byte, error) {
	return os.ReadFile(filepath.Join(n.root, ".ferrus", "worktrees", branch, "steps.txt"))
}

// TestANodeIsUnplugged: another one continues its task with the files of its last check, and it does nothing more.
func TestANodeIsUnplugged(t *testing.T) {
	t.Parallel()
	w, release := halfDone(t)
	a, b := w.nodes[0], w.nodes[1]
	if got := b.status("one"); got.Node == "" || len(got.Agents) != 1 || got.Agents[0].Node != got.Node {
		t.Errorf("the other computer does not show who conducts the task: %+v", got)
	}
	if out := b.run("status", "--all"); !strings.Contains(out, "   on ") {
		t.Errorf("status --all: %s", out)
	}
	if out := a.run("store"); !strings.Contains(out, "conducts one") {
		t.Errorf("store: %s", out)
	}
	b.start()
	a.net.Cut(t)
	w.until("the other computer has started its executor", func() bool { return len(w.lines("agents", "one executor b")) == 1 })
	release()
	w.completes("one")
	steps, err := b.steps("one")
	if string(steps) != "1 by a\n2 by b\n" {
		t.Errorf("the files are %q, %v", steps, err)
	}
	if all, got := len(w.lines("agents", "one")), b.status("one"); got.Spent.Runs != all || got.Node != "" {
		t.Errorf("%d agents were started; %+v", all, got)
	}
	a.net.Restore(t)
	w.until("it is heard of again", func() bool { return !strings.Contains(b.run("store"), "silent") })
	if got := w.lines("approved", "one"); len(got) != 1 || got[0] != "one b" {
		t.Errorf("approved: %q", got)
	}
}

// TestADrainedNodeHandsItsTaskOver with the files as they are, those that nobody has checked or added as well.
func TestADrainedNodeHandsItsTaskOver(t *testing.T) {
	t.Parallel()
	w, release := halfDone(t)
	a, b := w.nodes[0], w.nodes[1]
	w.must(os.WriteFile(filepath.Join(a.root, ".ferrus", "worktrees", "one", "half"), []byte("half done\n"), 0o644))
	b.start()
	if out := a.run("node", "drain"); !strings.Contains(out, "ended the node") {
		t.Errorf("drain: %s", out)
	}
	<-a.ended
	w.until("the other computer has started its executor", func() bool { return len(w.lines("agents", "one executor b")) == 1 })
	if half, err := os.ReadFile(filepath.Join(b.root, ".ferrus", "worktrees", "one", "half")); string(half) != "half done\n" {
		t.Errorf("the unfinished file is %q, %v", half, err)
	}
	release()
	w.completes("one")
	if out := a.run("node", "drain"); !strings.Contains(out, "nothing to do") {
		t.Errorf("drain: %s", out)
	}
	// The computer on which it began gets what the other one has made.
	a.run("branch", "--fetch", "one")
	if steps, err := a.steps("one"); string(steps) != "1 by a\n2 by b\n" {
		t.Errorf("the files are %q, %v", steps, err)
	}
}

// TestAnotherComputerContinuesAtOnce: an executor that waits there gets the work, with the files of its last check, when the first one is killed
// on a computer where somebody else waits for it.
func TestAnotherComputerContinuesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	first := a.claims("one")
	w.must(os.WriteFile(filepath.Join(a.root, ".ferrus", "worktrees", "one", "steps.txt"), []byte("1 by a\n"), 0o644))
	if res := first.call("check", nil); res.Status != "passed" {
		t.Fatalf("%+v", res)
	}
	b.run("branch", "--fetch", "one")
	next := b.agent("executor", "one")
	got := make(chan tools.Result)
	go func() { got <- next.call("wait_for_task", nil) }()
	reviewer := a.agent("supervisor", "one")
	reviewer.call("status", nil)
	go func() { _, _ = reviewer.client.Call(t.Context(), "wait_for_review", nil) }()
	killed := time.Now()
	w.must(first.cmd.Process.Kill())
	res := <-got
	t.Logf("claimed %v after the kill", time.Since(killed).Round(time.Millisecond))
	if res.Status != "claimed" || !strings.Contains(res.Message, "checks passed") {
		t.Errorf("%+v", res)
	}
	if steps, err := b.steps("one"); string(steps) != "1 by a\n" {
		t.Errorf("the files are %q, %v", steps, err)
	}
}

// TestWhatComesLateIsRefused: the agent of a computer that was cut off finds on its return that another one has its task.
func TestWhatComesLateIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	late := a.claims("one")
	w.must(os.WriteFile(filepath.Join(a.root, ".ferrus", "worktrees", "one", "late"), []byte("late\n"), 0o644))
	a.net.Cut(t)
	b.start()
	w.completes("one")
	a.net.Restore(t)
	for _, tool := range []string{"progress", "check", "submit"} {
		res := late.call(tool, map[string]map[string]any{"progress": {"note": "n"}, "submit": {"summary": "s", "verification": "v"}}[tool])
		if res.Code == "" {
			t.Errorf("%s of an executor that lost its task: %+v", tool, res)
		}
	}
	if _, err := os.Lstat(filepath.Join(b.root, ".ferrus", "worktrees", "one", "late")); err == nil {
		t.Error("the file that came late is among the files of the task")
	}
	if refs := w.refs(); strings.Contains(refs, "/2\n") || !strings.Contains(refs, "/3\n") {
		t.Errorf("the remote has files of an epoch that ended, or lacks those of the last one:\n%s", refs)
	}
}

// TestTheReviewersComputerJudgesToo: with [checks] where = "clean" no reviewer is started on another computer before the checks pass there.
func TestTheReviewersComputerJudgesToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	red := filepath.Join(w.side, "red")
	conf, err := os.ReadFile(filepath.Join(a.root, "ferrus.toml"))
	w.must(err)
	check := fmt.Sprintf("where = \"clean\"\nsandbox = \"off\"\ncommands = [\"pwd >>%s; cat steps.txt && case $PWD in */home-b/*) test ! -e %s;; esac\"]",
		filepath.Join(w.side, "judged"), red)
	a.write("ferrus.toml", strings.Replace(string(conf), `commands = ["true"]`, check, 1))
	a.git("commit", "-qam", "a clean gate")
	a.git("push", "-q", "origin", "main")
	b.git("pull", "-q", "origin", "main")
	a.trust()
	b.trust()
	executor := a.claims("one")
	w.must(os.WriteFile(filepath.Join(a.root, ".ferrus", "worktrees", "one", "steps.txt"), []byte("1 by a\n"), 0o644))
	if res := executor.call("check", nil); res.Status != "passed" {
		t.Fatalf("%+v", res)
	}
	if res := executor.call("submit", map[string]any{"summary": "Done.", "verification": "Looked."}); res.Code != "" {
		t.Fatalf("%+v", res)
	}
	w.must(os.WriteFile(red, nil, 0o600))
	b.start()
	w.until("a person is asked", func() bool { return w.state("one") == state.AwaitingHuman })
	if out := a.run("status", "--branch", "one"); !strings.Contains(out, "pass on the computer of the executor") {
		t.Errorf("status: %s", out)
	}
	if got := w.lines("agents", "one"); len(got) != 0 {
		t.Errorf("agents were started: %q", got)
	}
	w.must(os.Remove(red))
	a.run("answer", "--branch", "one", "It was the clock. Try again.")
	w.completes("one")
	if got := w.lines("judged", ""); len(got) != 3 || !strings.Contains(got[0], "home-a") || !strings.Contains(got[2], "home-b") {
		t.Errorf("judged in %q", got)
	}
	if !strings.Contains(b.log(), "running the checks on this computer too") {
		t.Errorf("the node does not say so: %s", b.log())
	}
}

// TestNodesAreKilledAndCutOff: two nodes work on two tasks, with -full three on three, while nodes, agents, their shims and servers are killed and
// networks are cut. No duty has two agents at any moment, no step that was checked is lost or done twice, and every task ends approved once.
func TestNodesAreKilledAndCutOff(t *testing.T) {
	kit.Long(t, "one trouble at a time: TestANodeIsUnplugged, TestAnotherComputerContinuesAtOnce and TestWhatComesLateIsRefused")
	t.Parallel()
	events, names, tasks := len(troubles), []string{"a", "b"}, []string{"one", "two"}
	if kit.Full() {
		events, names, tasks = 200, append(names, "c"), append(tasks, "three")
	}
	w := newWorld(t, names...)
	w.must(os.WriteFile(filepath.Join(w.side, "more"), nil, 0o600))
	releases := map[string]func(){}
	for _, name := range tasks {
		releases[name] = w.hold(name) // after each step, until a trouble has come
		w.nodes[0].run("branch", name, "--task", "steps 3")
	}
	w.storm(events, tasks)
	w.must(os.Remove(filepath.Join(w.side, "more")))
	for _, release := range releases {
		release()
	}
	for _, n := range w.nodes {
		n.heal()
	}
	for _, name := range tasks {
		w.until(name+" is complete", func() bool { return w.answered(name) == state.Complete })
		if log := w.nodes[0].run("log", "--branch", name); strings.Count(log, " approve ") != 1 {
			t.Errorf("%s was not approved once:\n%s", name, log)
		}
		w.nodes[0].run("branch", "--fetch", name)
		text, err := w.nodes[0].steps(name)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i, line := range lines {
			if !strings.HasPrefix(line, steps(i+1)+" by ") {
				t.Errorf("%s: line %d is %q, %v", name, i+1, line, err)
			}
		}
		for _, done := range w.lines("steps", name+" ") {
			step := strings.Fields(done)
			if n, err := strconv.Atoi(step[1]); err != nil || n > len(lines) || lines[n-1] != step[1]+" by "+step[2] {
				t.Errorf("%s: step %s was checked on %s and is lost", name, step[1], step[2])
			}
		}
	}
}
