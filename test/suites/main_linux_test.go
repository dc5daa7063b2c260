package suites

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

var all = flag.Bool("suites", false, "also run the suites that take more than some seconds")

// patience is how long a check may take that compiles a standard library on a busy machine.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	os.Exit(enginetest.Main(func() int { return postgrestest.Main(m.Run) }))
}

// A mode is a sandbox of checks.
type mode struct {
	name      string
	mechanism sandbox.Mechanism
	network   bool
}

var modes = []mode{
	{"bwrap, network off", sandbox.Bwrap, false},
	{"bwrap, network on", sandbox.Bwrap, true},
	{"landlock, network on", sandbox.Landlock, true},
}

// toml is the ferrus.toml of a project whose check runs a command in the sandbox.
func (m mode) toml(command string) string {
	text := enginetest.Gate(command) + "sandbox = \"" + string(m.mechanism) + "\"\n"
	if m.network {
		text += "network = true\n"
	}
	return text
}

// missing skips a test where a program is not installed.
func missing(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s here", name)
		}
	}
}

// A task is one of a branch, claimed by an executor.
type task struct {
	*enginetest.Machine // of the project
	executor, person    *engine.Session
}

// begin makes a project with files, and a task on a branch of it.
func begin(t *testing.T, files map[string]string) *task {
	t.Helper()
	p := enginetest.Repository(t, enginetest.Gate("true"))
	for name, text := range files {
		p.Write(name, text)
	}
	p.Git("add", "-A")
	p.Git("commit", "-qm", "a suite")
	enginetest.Branched(t, p.Human(), branch.Fork{Names: []string{"alt"}, Own: true})
	on := p.On("alt")
	k := &task{p, on.Executor("codex"), on.Human()}
	enginetest.Must(k.person.CreateTask(t.Context(), "Build it.", ""))(t)
	enginetest.Claim(t, k.executor)
	return k
}

// check runs a command as the check of the task in a sandbox, and returns what it printed.
func (k *task) check(t *testing.T, m mode, command string) (output string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := sandbox.Probe(t.Context(), m.mechanism, self); err != nil {
		t.Skip(err)
	}
	k.Write("ferrus.toml", m.toml(command))
	if _, _, err := k.person.AcceptConfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := enginetest.Must(k.executor.Check(t.Context(), patience))(t)
	log, err := os.ReadFile(k.executor.Engine().Place().Path(out.Task.Check.Log))
	if err != nil {
		t.Fatal(err)
	}
	if out.Status != state.CheckGreen && out.Status != state.CheckRed {
		t.Fatalf("the check ended %s: %s\n%s", out.Status, out.Err, log)
	}
	return string(log), out.Status == state.CheckGreen
}

// TestLandlockWithoutANetworkIsRefused: it would take the loopback away.
func TestLandlockWithoutANetworkIsRefused(t *testing.T) {
	k := begin(t, nil)
	k.Write("ferrus.toml", mode{mechanism: sandbox.Landlock}.toml("true"))
	_, _, err := k.person.AcceptConfig(t.Context())
	if refusal.CodeOf(err) != refusal.InvalidInput || !strings.Contains(err.Error(), "network") || !strings.Contains(err.Error(), "make bubblewrap work: ferrus doctor --sandbox") {
		t.Errorf("%+v", err)
	}
}
