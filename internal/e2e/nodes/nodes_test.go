//go:build linux

package nodes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hold makes the executor of a branch wait after its next step, until the function is called.
func (w *world) hold(branch string) (release func()) {
	path := filepath.Join(w.side, "hold-"+branch)
	w.must(os.WriteFile(path, nil, 0o600))
	return func() { w.must(os.Remove(path)) }
}

// TestANodeIsUnplugged: another one continues its task with the files of its last check, and it does nothing more.
func TestANodeIsUnplugged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	release := w.hold("one")
	a.run("branch", "one", "--task", "steps 2")
	a.start()
	w.until("the first step is done", func() bool { return len(w.lines("steps", "one 1 a")) == 1 })
	b.start()
	a.net.Cut(t)
	w.until("the other computer has started its executor", func() bool { return len(w.lines("agents", "one executor b")) == 1 })
	release()
	w.until("the task is complete", func() bool { return b.state("one") == "Complete" })
	steps, err := os.ReadFile(filepath.Join(b.root, ".ferrus", "worktrees", "one", "steps.txt"))
	if string(steps) != "1 by a\n2 by b\n" {
		t.Errorf("the files are %q, %v", steps, err)
	}
	a.net.Mend(t)
	w.until("it is heard of again", func() bool { return !strings.Contains(b.run("store"), "silent") })
	if got := w.lines("approved", "one"); len(got) != 1 || got[0] != "one b" {
		t.Errorf("approved: %q", got)
	}
}
