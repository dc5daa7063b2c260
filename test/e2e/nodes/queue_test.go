//go:build linux

package nodes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAQueuedTaskIsTakenByTheNodeOfAnotherComputer, once, and two nodes share what waits.
func TestAQueuedTaskIsTakenByTheNodeOfAnotherComputer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	b.start()
	a.run("queue", "steps 1", "--name", "one")
	w.completes("one")
	if got := w.lines("agents", "one executor"); len(got) != 1 || !strings.HasPrefix(got[0], "one executor b ") {
		t.Errorf("agents: %q", got)
	}
	a.start()
	names := []string{"two", "three"}
	for _, name := range names {
		a.run("queue", "steps 1", "--name", name)
	}
	for _, name := range names {
		w.completes(name)
		if log := b.run("log", "--branch", name); strings.Count(log, " create_task ") != 1 || strings.Count(log, " approve ") != 1 {
			t.Errorf("%s was not made and approved once:\n%s", name, log)
		}
	}
	if out := b.run("queue"); !strings.Contains(out, "the queue is empty") {
		t.Errorf("queue: %s", out)
	}
}

// TestANodeTakesATaskWhenItsNeedIsDone, once, and not before; its branch begins with that work, whichever computer has done it.
func TestANodeTakesATaskWhenItsNeedIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	a.run("queue", "steps 1", "--name", "one")
	a.run("queue", "steps 2", "--name", "two", "--needs", "one")
	if out := b.run("queue"); !strings.Contains(out, "waits for one, which is in the queue") {
		t.Errorf("queue: %s", out)
	}
	b.start()
	w.completes("one")
	w.completes("two")
	b.run("node", "drain")
	a.run("queue", "steps 3", "--name", "three", "--needs", "two")
	a.start()
	w.completes("three")
	for name, began := range map[string]string{"one": "", "two": ", with the work of one", "three": ", with the work of one, with the work of two"} {
		log := a.run("log", "--branch", name)
		if strings.Count(log, " create_task ") != 1 || strings.Count(log, " approve ") != 1 || !strings.Contains(log, "from the project's files"+began) || began == "" && strings.Contains(log, "with the work of") {
			t.Errorf("%s was not made and approved once, or began with other work:\n%s", name, log)
		}
	}
	if got := w.lines("agents", "three executor"); len(got) != 1 || !strings.HasPrefix(got[0], "three executor a ") {
		t.Errorf("agents: %q", got)
	}
}

// TestANodeThatCannotStartAnAgentSaysSoOnEveryComputer, until it can: in the status of the task, in what needs a person, and among the computers.
func TestANodeThatCannotStartAnAgentSaysSoOnEveryComputer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	good, err := os.ReadFile(filepath.Join(a.root, "ferrus.toml"))
	w.must(err)
	a.write("ferrus.toml", regexp.MustCompile(`command = .*agent exec [^ ]+`).ReplaceAllLiteralString(string(good), `command = "no-such-agent`))
	a.trust()
	a.run("branch", "one", "--task", "steps 1")
	a.write("ferrus.toml", string(good))
	a.trust()
	b.start()
	type report struct {
		Notices  []string
		Troubles []struct{ Name, Text string }
		Needs    []struct{ Branch, Text string } `json:"needs_you"`
	}
	read := func(n *node, args ...string) (got report) {
		w.must(json.Unmarshal([]byte(n.run(append(args, "--json")...)), &got))
		return got
	}
	says := func(n *node) bool {
		return slices.ContainsFunc(read(n, "status", "--branch", "one").Notices, func(text string) bool {
			return strings.HasPrefix(text, "node: ") && strings.Contains(text, "no-such-agent") && strings.Contains(text, "does not exist")
		})
	}
	for _, n := range []*node{a, b} {
		w.until("the status says why the node does nothing", func() bool { return says(n) })
		if got := read(n, "store").Troubles; len(got) != 1 || got[0].Name != "one" || !strings.Contains(got[0].Text, "no-such-agent") {
			t.Errorf("on %s the computers say: %+v", n.name, got)
		}
		if out := n.run("store"); !strings.Contains(out, "does not work on one, since ") {
			t.Errorf("store: %s", out)
		}
		if got := read(n, "status", "--all").Needs; !slices.ContainsFunc(got, func(need struct{ Branch, Text string }) bool {
			return need.Branch == "one" && strings.Contains(need.Text, "does not work on the task: ") && strings.Contains(need.Text, "no-such-agent")
		}) {
			t.Errorf("on %s a person is needed for: %+v", n.name, got)
		}
	}
	a.run("config", "accept", "--branch", "one")
	w.completes("one")
	if got := read(a, "store").Troubles; len(got) > 0 || says(a) || says(b) {
		t.Errorf("it can, and says still: %+v", got)
	}
}

// TestANodeWithoutATask is listed while it runs.
func TestANodeWithoutATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	sessions := func() int {
		var got struct {
			Nodes []struct {
				Root     string
				Lost     bool
				Sessions int
			}
		}
		w.must(json.Unmarshal([]byte(b.run("store", "--json")), &got))
		if len(got.Nodes) != 2 || got.Nodes[0].Root != a.root || got.Nodes[0].Lost || got.Nodes[1].Root != b.root || got.Nodes[1].Sessions > 0 {
			return -1
		}
		return got.Nodes[0].Sessions
	}
	a.start()
	w.until("the node is listed", func() bool { return sessions() == 1 })
	a.run("node", "drain")
	if n := sessions(); n != 0 {
		t.Errorf("a node that has ended has %d sessions", n)
	}
}

// TestANodeWaitsForTheDatabase that is away when it starts.
func TestANodeWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	a.run("queue", "steps 1", "--name", "one")
	b.net.Cut(t)
	b.start()
	waits := func() bool { return strings.Contains(b.log(), "waits for the database") }
	w.until("the node says that it waits", waits)
	if out := b.run("node", "drain"); !strings.Contains(out, "ended the node") || !strings.Contains(b.log(), "stopped") {
		t.Errorf("drain: %s\n%s", out, b.log())
	}
	w.must(os.Remove(b.logFile()))
	b.start()
	w.until("the next one says so too", waits)
	b.net.Restore(t)
	w.completes("one")
}
