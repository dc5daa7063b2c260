package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is a system of processes that a test has made up.
type world map[int]fake

type fake struct {
	entry
	env []string
	cwd string
	old bool // its program was replaced
}

func (w world) look(pid int) (entry, bool) { p, ok := w[pid]; p.pid = pid; return p.entry, ok }
func (w world) environ(pid int) []string   { return w[pid].env }
func (w world) folder(pid int) string      { return w[pid].cwd }
func (w world) replaced(pid int) bool      { return w[pid].old }
func (w world) all() (pids []int) {
	for pid := range w {
		pids = append(pids, pid)
	}
	return pids
}

func cmd(parent int, line string) fake {
	args := strings.Fields(line)
	return fake{entry: entry{parent: parent, name: args[0], args: args}}
}

// TestWhoDescendsFromAnExecutor: each line of a world is a process by its id, its parent and its command line.
func TestWhoDescendsFromAnExecutor(t *testing.T) {
	root := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	other := t.TempDir()
	shimOf := func(duty, project string) string {
		return "ferrus " + Shim + " " + duty + " " + filepath.Join(project, ".ferrus", "live", "agent-main-"+duty+".lock")
	}
	opened := func(f fake, who, project string) fake {
		f.env = []string{"A=b", agentVar + "=" + who, ProjectVar + "=" + project}
		return f
	}
	in := func(f fake, dir string) fake { f.cwd = dir; return f }
	executors := "ferrus serve --role executor --root " + root
	const me = 50
	for _, c := range []struct {
		name            string
		w               world
		executor, agent bool
	}{
		{"a terminal", world{me: cmd(40, "ferrusd --role supervisor"), 40: cmd(30, "claude"), 30: cmd(20, "zsh"), 20: cmd(1, "tmux")}, false, false},
		{"the shim of an executor", world{me: cmd(40, "ferrusd"), 40: cmd(30, "sh"), 30: cmd(20, "codex"), 20: cmd(1, shimOf("executor", root))}, true, true},
		{"without its agent, which has ended", world{me: cmd(20, "ferrusd"), 20: cmd(1, shimOf("executor", root))}, true, true},
		{"the shim of a worker", world{me: cmd(40, "ferrusd"), 40: cmd(20, "sh"), 20: cmd(1, shimOf("worker", root))}, true, true},
		{"the shim of a reviewer", world{me: cmd(40, "ferrusd"), 40: cmd(20, "claude"), 20: cmd(1, shimOf("reviewer", root))}, false, true},
		{"a conductor below an executor", world{me: cmd(40, "ferrusd"), 40: cmd(30, "claude"), 30: cmd(25, shimOf("reviewer", root)),
			25: cmd(20, "ferrus run"), 20: cmd(1, shimOf("executor", root))}, true, true},
		{"the shim of another project", world{me: cmd(40, "ferrusd"), 40: cmd(20, "sh"), 20: cmd(1, shimOf("executor", other))}, false, false},
		{"a shim beside", world{me: cmd(40, "ferrusd"), 40: cmd(1, "claude"), 20: cmd(1, shimOf("executor", root))}, false, false},
		{"an opened executor", world{me: cmd(40, "ferrusd"), 40: cmd(30, "sh"), 30: opened(cmd(20, "codex"), "executor:codex:1", root), 20: cmd(1, "zsh")}, true, true},
		{"an opened worker", world{me: cmd(40, "ferrusd"), 40: opened(cmd(20, "codex"), "writer:codex:1", root), 20: cmd(1, "zsh")}, true, true},
		{"an opened supervisor", world{me: cmd(40, "ferrusd"), 40: opened(cmd(20, "claude"), "supervisor:claude-code:1", root), 20: cmd(1, "zsh")}, false, true},
		{"an executor opened for another project", world{me: cmd(40, "ferrusd"), 40: opened(cmd(20, "codex"), "executor:codex:1", other), 20: cmd(1, "zsh")}, false, false},
		{"a variable without a role", world{me: cmd(40, "ferrusd"), 40: opened(cmd(20, "codex"), "codex", root), 20: cmd(1, "zsh")}, false, false},
		{"a shell of a registered executor", world{me: cmd(40, "ferrusd"), 40: cmd(30, "bash"), 30: cmd(20, "codex"), 20: cmd(1, "zsh"), 60: cmd(30, executors)}, true, true},
		{"... whose server stands in the project", world{me: cmd(40, "ferrusd"), 40: cmd(30, "bash"), 30: cmd(20, "codex"), 20: cmd(1, "zsh"),
			60: in(cmd(30, "ferrusd -role=executor"), filepath.Join(root, "sub"))}, true, true},
		{"... of another project", world{me: cmd(40, "ferrusd"), 40: cmd(30, "bash"), 30: cmd(20, "codex"), 20: cmd(1, "zsh"),
			60: in(cmd(30, "ferrusd --role executor"), other)}, false, false},
		{"a registered supervisor", world{me: cmd(40, "ferrusd"), 40: cmd(30, "bash"), 30: cmd(20, "claude"), 20: cmd(1, "zsh"),
			60: cmd(30, "ferrusd --role supervisor --root "+root)}, false, false},
		{"both servers of one client", world{me: cmd(30, "ferrusd"), 30: cmd(20, "demo"), 20: cmd(1, "zsh"), 60: cmd(30, executors)}, false, false},
		{"a shell with an executor's server in the background", world{me: cmd(40, "ferrusd"), 40: cmd(30, "claude"), 30: cmd(20, "-zsh"), 20: cmd(1, "tmux"), 60: cmd(30, executors)}, false, false},
		{"a conductor beside an executor's server", world{me: cmd(45, "ferrusd"), 45: cmd(40, "claude"), 40: cmd(30, shimOf("reviewer", root)), 30: cmd(20, "ferrus run"),
			20: cmd(10, "e2e.test"), 10: cmd(1, "go"), 60: cmd(20, executors)}, false, true},
		{"a ring", world{me: cmd(40, "ferrusd"), 40: cmd(41, "a"), 41: cmd(40, "b")}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, executor := nearestAbove(c.w, me, root, func(a Agent) bool { return !a.Supervisor() })
			b, agent := agentAbove(c.w, me, root)
			if executor != c.executor || agent != c.agent {
				t.Errorf("below an executor: %v (%v), below an agent: %v (%v)", executor, a, agent, b)
			}
			if agent && (b.Pid == 0 || b.Name == "" || b.How == "") {
				t.Errorf("not said who: %+v", b)
			}
		})
	}
}

// TestTheSlotIsThatOfTheNearestShim of the project.
func TestTheSlotIsThatOfTheNearestShim(t *testing.T) {
	root, other := real(t.TempDir()), real(t.TempDir())
	slotOf := func(duty, project string) string {
		return filepath.Join(project, ".ferrus", "live", "agent-main-"+duty+".lock")
	}
	shimOf := func(duty, project string) string { return "ferrus " + Shim + " " + duty + " " + slotOf(duty, project) }
	w := world{50: cmd(40, "ferrusd"), 40: cmd(30, "codex"), 30: cmd(25, shimOf("reviewer", other)), 25: cmd(20, shimOf("reviewer", root)),
		20: cmd(1, shimOf("executor", root)), 60: cmd(1, "ferrusd")}
	if path, ok := slotAbove(w, 50, root); !ok || path != slotOf("reviewer", root) {
		t.Errorf("%q, %v", path, ok)
	}
	if path, ok := slotAbove(w, 60, root); ok {
		t.Errorf("a person's client is in %q", path)
	}
}

func TestTheTreeIsShortAndClean(t *testing.T) {
	evil := fake{entry: entry{parent: 30, name: "\x1b]0;x\a<\u202e" + strings.Repeat("y", 100)}}
	w := world{50: cmd(40, "ferrusd"), 40: evil, 30: fake{entry: entry{parent: 20, session: 30, name: "zsh"}}, 20: cmd(1, "tmux")}
	if got, want := ancestry(w, 50), "ferrusd 50 < ?]0;x???yyyyyyyy 40 < zsh 30"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w[50] = fake{entry: entry{parent: 40, session: 50, name: "ferrusd"}} // a client may give each server a session of its own
	if got := ancestry(w, 50); !strings.HasSuffix(got, "zsh 30") {
		t.Errorf("%q ends too soon", got)
	}
	deep := world{}
	for pid := 2; pid < 100; pid++ {
		deep[pid] = cmd(pid-1, strings.Repeat("z", 100))
	}
	if got := ancestry(deep, 99); strings.Count(got, " < ") != maxNames-1 || len(got) > MaxAncestry {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if got := Ancestry(); !strings.Contains(got, " < ") {
		t.Skipf("%q: this system shows no parents", got)
	}
}

// TestWhoHasTheClientOfAServer: the server is process 60, and said what it came from when it began.
func TestWhoHasTheClientOfAServer(t *testing.T) {
	const said = "ferrus 60 < claude 40 < zsh 30"
	server := cmd(40, "ferrus serve --role executor")
	for _, c := range []struct {
		name, said string
		w          world
		want       bool
	}{
		{"a child of the client", said, world{50: cmd(40, "ferrus hook"), 40: cmd(30, "claude"), 60: server}, true},
		{"by a shell", said, world{50: cmd(45, "ferrus hook"), 45: cmd(40, "sh -c"), 40: cmd(30, "claude"), 60: server}, true},
		{"of a client below the client", said, world{50: cmd(45, "ferrus hook"), 45: cmd(42, "sh"), 42: cmd(41, "claude"), 41: cmd(40, "bash"), 40: cmd(30, "claude"), 60: server}, false},
		{"of another client", said, world{50: cmd(41, "ferrus hook"), 41: cmd(30, "claude"), 40: cmd(30, "claude"), 60: server}, false},
		{"the server has ended", said, world{50: cmd(40, "ferrus hook"), 40: cmd(30, "claude")}, false},
		{"its id is another's now", said, world{50: cmd(40, "ferrus hook"), 40: cmd(30, "claude"), 60: cmd(30, "vi")}, false},
		{"the client's id is another's now", said, world{50: cmd(41, "ferrus hook"), 41: cmd(30, "claude"), 60: cmd(41, "ferrus serve")}, false},
		{"over HTTP", "over HTTP", world{50: cmd(40, "ferrus hook"), 40: cmd(30, "claude"), 60: server}, false},
		{"no ancestry", "", world{50: cmd(40, "ferrus hook"), 40: cmd(30, "claude"), 60: server}, false},
		{"a server that nobody has", "ferrus 60 < init 1", world{50: cmd(1, "ferrus hook"), 1: cmd(0, "init"), 60: cmd(1, "ferrus serve")}, false},
		{"parents in a ring", said, world{50: cmd(51, "ferrus hook"), 51: cmd(52, "sh"), 52: cmd(51, "sh"), 60: server}, false},
	} {
		if got := sameClient(c.w, 50, c.said); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestARealShimIsSeen: this program plays the shim and, below a shell without an environment, the one that asks.
func TestARealShimIsSeen(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := (here{}).look(os.Getppid()); !ok {
		t.Skip("this system shows no other processes")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	root := t.TempDir()
	for duty, want := range map[string]string{"executor": "executor", "reviewer": "nobody"} {
		out, err := exec.Command(self, Shim, duty, filepath.Join(root, ".ferrus", "live", "x.lock")).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("below a shim of %s: %q, %v", duty, out, err)
		}
	}
}

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 4 && os.Args[1] == Shim:
		self, _ := os.Executable()
		root := filepath.Dir(filepath.Dir(filepath.Dir(os.Args[3])))
		c := exec.Command("sh", "-c", `env -i "$1" --ask "$2"; exit $?`, "sh", self, root)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if c.Run() != nil {
			os.Exit(1)
		}
	case len(os.Args) == 3 && os.Args[1] == "--ask":
		if a, ok := ExecutorAbove(os.Args[2]); ok {
			os.Stdout.WriteString(a.Role)
		} else {
			os.Stdout.WriteString("nobody")
		}
	default:
		os.Exit(m.Run())
	}
}

// counted is a world that counts what is asked of it.
type counted struct {
	world
	n int
}

func (c *counted) look(pid int) (entry, bool) { c.n++; return c.world.look(pid) }
func (c *counted) all() []int                 { c.n++; return c.world.all() }

// TestProcessesAreLookedAtOnce for all projects, and each project has its own answer.
func TestProcessesAreLookedAtOnce(t *testing.T) {
	root, other := real(t.TempDir()), real(t.TempDir())
	c := &counted{world: world{9: {entry: entry{parent: 8, name: "ferrus"}}, 8: {entry: entry{parent: 7, name: "sh"}, env: []string{agentVar + "=executor:codex:1", ProjectVar + "=" + root}},
		7: {entry: entry{parent: 1, name: "sh"}}}}
	above := aboveIn(c, 9)
	for range 3 {
		if a, ok := above(root); !ok || a.Pid != 8 {
			t.Errorf("%v %v", a, ok)
		}
		if a, ok := above(other); ok {
			t.Errorf("another project: %v", a)
		}
	}
	if c.n > 5 {
		t.Errorf("looked %d times at 3 processes", c.n)
	}
}
