//go:build linux

package nodes

import (
	"encoding/json"
	"os"
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
	names := []string{"two", "three", "four"}
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

// TestANodeWithoutATask is listed while it runs.
func TestANodeWithoutATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	sessions := func() int {
		var got struct {
			Nodes []struct {
				Lost     bool
				Sessions int
			}
		}
		w.must(json.Unmarshal([]byte(b.run("store", "--json")), &got))
		if len(got.Nodes) != 1 || got.Nodes[0].Lost {
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
