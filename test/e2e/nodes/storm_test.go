//go:build linux

package nodes

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
)

func steps(n int) string { return strconv.Itoa(n) }

// seed makes a storm repeatable as far as processes are.
var seed = uint64(time.Now().UnixNano())

// A trouble is what can come over a computer. It reports whether it came.
type trouble struct {
	name string
	come func(n *node) bool
}

var troubles = []trouble{
	{"its node is killed", func(n *node) bool {
		if !n.running() {
			return false
		}
		n.kill()
		return true
	}},
	{"its node starts", func(n *node) bool {
		if n.running() {
			return false
		}
		n.start()
		return true
	}},
	{"an agent is killed", func(n *node) bool { return n.killOne("agent") }},
	{"a shim is killed", func(n *node) bool { return n.killOne("shim") }},
	{"a server is killed", func(n *node) bool { return n.killOne("serve") }},
	{"its network is cut", func(n *node) bool {
		if n.isCut {
			return false
		}
		n.net.Cut(n.w.t)
		n.isCut = true
		return true
	}},
	{"its network works", func(n *node) bool {
		if !n.isCut {
			return false
		}
		n.net.Restore(n.w.t)
		n.isCut = false
		return true
	}},
	{"it is drained", func(n *node) bool {
		if !n.running() || n.isCut {
			return false
		}
		for n.running() { // the first one may come before the node has begun
			_, _ = n.try("node", "drain")
			n.w.pause()
		}
		return true
	}},
}

// storm brings each kind of trouble once, and then others until so many have come. Between two of them some agent of some task makes a step, or the
// trouble before has left nobody who could. At most one network is cut at a time.
func (w *world) storm(events int, tasks []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	w.t.Logf("seed %d", seed)
	came, idle := map[string]int{}, 0
	for _, n := range w.nodes {
		n.start()
	}
	for n := 0; n < max(events, len(troubles)); {
		at, what := w.nodes[random.IntN(len(w.nodes))], troubles[random.IntN(len(troubles))]
		if what.name == "its network is cut" && w.anyCut() || came[what.name] > 0 && len(came) < len(troubles) {
			continue
		}
		if !what.come(at) {
			w.pause()
			continue
		}
		came[what.name]++
		n++
		w.t.Logf("%d: %s: %s", n, at.name, what.name)
		before := len(w.lines("steps", ""))
		for _, name := range tasks {
			path := filepath.Join(w.side, "hold-"+name)
			_ = os.Remove(path)
		}
		if w.working() {
			for range 500 {
				if len(w.lines("steps", "")) > before {
					break
				}
				w.pause()
			}
		}
		if idle++; len(w.lines("steps", "")) > before {
			idle = 0
		} else if idle > 30 {
			w.t.Fatal("no agent makes a step any more")
		}
		for _, name := range tasks {
			w.must(os.WriteFile(filepath.Join(w.side, "hold-"+name), nil, 0o600))
		}
	}
	w.t.Logf("%d agents, %d steps, %d rejections; refused approvals: %q", len(w.lines("agents", "")), len(w.lines("steps", "")), len(w.lines("rejected", "")), w.lines("refused", ""))
	w.t.Logf("rig: cases=%d bad=%d; %v", events, len(w.lines("violations", "")), came)
}

// answered returns the state of a task. As a person it answers the one question that a storm may bring: two agents in a row that were
// killed as soon as they had started look like a client that cannot work.
func (w *world) answered(task string) state.State {
	w.t.Helper()
	is := w.state(task)
	if is != state.AwaitingHuman {
		return is
	}
	if asked := w.nodes[0].run("status", "--branch", task); !strings.Contains(asked, "it ended at once, twice with the same error") {
		w.t.Fatalf("another question:\n%s", asked)
	}
	w.nodes[0].run("answer", "--branch", task, "They were killed. Try again.")
	return w.state(task)
}

// pause lets something happen.
func (w *world) pause() {
	tick := time.NewTimer(10 * time.Millisecond)
	<-tick.C
}

func (w *world) anyCut() bool {
	for _, n := range w.nodes {
		if n.isCut {
			return true
		}
	}
	return false
}

// working reports whether some node can work.
func (w *world) working() bool {
	for _, n := range w.nodes {
		if n.running() && !n.isCut {
			return true
		}
	}
	return false
}

// heal makes a computer work again.
func (n *node) heal() {
	if n.isCut {
		n.net.Restore(n.w.t)
		n.isCut = false
	}
	if !n.running() {
		n.start()
	}
}

// killOne kills a process of a kind on this computer: an agent, a shim or a server. It reports whether there was one.
func (n *node) killOne(kind string) bool {
	self, err := os.Executable()
	n.w.must(err)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if program, _ := os.Readlink(filepath.Join(dir, "exe")); program != self {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !strings.Contains(string(environ), "NODE="+n.name+"\x00") || !strings.Contains(string(environ), n.w.dir) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		is := map[string]bool{
			"agent": strings.Contains(string(environ), part+"=agent\x00") && len(args) == 2,
			"shim":  len(args) > 2 && strings.Contains(args[1], "shim"),
			"serve": len(args) > 1 && args[1] == "serve",
		}
		if !is[kind] {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			return true
		}
	}
	return false
}

// refs are those of published work trees that the remote has, a line each.
func (w *world) refs() string {
	out, err := exec.Command("git", "-C", w.bare, "for-each-ref", "refs/ferrus").Output()
	w.must(err)
	return string(out)
}

// An actor is an agent that the test plays on a computer.
type actor struct {
	t      *testing.T
	client *mcpclient.Client
	cmd    *exec.Cmd
}

// agent starts a server of ferrus for a role at a branch.
func (n *node) agent(role, branch string) *actor {
	n.w.t.Helper()
	cmd := n.command("serve", "--role", role, "--branch", branch)
	var client *mcpclient.Client
	n.w.must(n.net.Do(func() (err error) {
		client, err = mcpclient.Start(context.Background(), "actor", cmd)
		return err
	}))
	n.w.t.Cleanup(func() { client.Close() })
	return &actor{n.w.t, client, cmd}
}

func (a *actor) call(tool string, args map[string]any) tools.Result {
	a.t.Helper()
	for {
		res, err := a.client.Call(context.Background(), tool, args)
		if err != nil {
			a.t.Fatalf("%s: %v", tool, err)
		}
		if res.Status != "running" && res.Status != "timeout" {
			return res
		}
	}
}
