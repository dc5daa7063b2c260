//go:build linux

package nodes

import (
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
	w.until("the task is complete", func() bool { return a.state("one") == "Complete" })
	if got := w.lines("agents", "one executor"); len(got) != 1 || !strings.HasPrefix(got[0], "one executor b ") {
		t.Errorf("agents: %q", got)
	}
	a.start()
	names := []string{"two", "three", "four"}
	for _, name := range names {
		a.run("queue", "steps 1", "--name", name)
	}
	for _, name := range names {
		w.until(name+" is complete", func() bool { return b.state(name) == "Complete" })
		if log := b.run("log", "--branch", name); strings.Count(log, " create_task ") != 1 || strings.Count(log, " approve ") != 1 {
			t.Errorf("%s was not made and approved once:\n%s", name, log)
		}
	}
	if out := b.run("queue"); !strings.Contains(out, "the queue is empty") {
		t.Errorf("queue: %s", out)
	}
}
