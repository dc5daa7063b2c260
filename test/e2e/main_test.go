//go:build unix

package e2e

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/server"
	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools"
	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// rounds picks a number for a usual run, in which test/faults tries the mutants, and for -full; half of the usual one where no test is named.
func rounds(usual, all int) int {
	if kit.Full() {
		return all
	}
	if !kit.Named() {
		return (usual + 1) / 2
	}
	return usual
}

// brief is how long an agent is given that will not leave by itself.
const brief = 100 * time.Millisecond

// part is the environment variable that makes this binary another program.
const part = "FERRUS_TEST_PART"

func TestMain(m *testing.M) {
	checks.Helper()
	process.Shim(nil)
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(server.Main("ferrus serve", os.Args[2:], nil)) // as an agent starts it, whose environment is not ours
	}
	switch os.Getenv(part) {
	case "agent":
		os.Exit(play(os.Args[1]))
	case "conduct":
		os.Exit(conduct(os.Args[1]))
	case "serve":
		tell()
		os.Exit(server.Main("ferrusd", os.Args[1:], cli.Metrics))
	case "race":
		os.Exit(race(os.Args[1]))
	}
	os.Exit(kit.Main(func() int {
		return kit.Scratch(&enginetest.Scratch, func() int { return sharedtest.Main(m.Run) })
	}))
}

// program is this binary as another one.
func program(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), part+"="+name)
	return cmd
}

// A world is a project with ferrus in it.
type world struct {
	t    testing.TB
	dir  string
	side string // a folder beside it, for what is no work
}

// newWorld makes a project: a plain folder, or with -full a repository. What processes do to each other asks nothing of
// git, whose own processes would be most of the work.
func newWorld(t testing.TB, toml string) *world {
	t.Helper()
	if kit.Full() {
		return repository(t, toml)
	}
	return bare(t, toml)
}

// repository makes a project whose trees are known.
func repository(t testing.TB, toml string) *world {
	t.Helper()
	w := bare(t, toml)
	w.write("code.txt", "one\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"add", "code.txt"}, {"commit", "-q", "-m", "begin"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = w.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return w
}

// bare makes a project without git: its gate is quick, and never trusts a tree.
func bare(t testing.TB, toml string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(base, "project"), side: filepath.Join(base, "side")}
	for _, dir := range []string{w.dir, w.side} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write("ferrus.toml", strings.ReplaceAll(toml, "SIDE", w.side))
	sharedtest.Init(t, w.dir)
	if err := agreement.Agree(w.dir); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.dir, name)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// text is what a file holds, "" when there is none.
func (w *world) text(name string) string {
	data, _ := os.ReadFile(w.path(name))
	return string(data)
}

// engine opens the machine in this process.
func (w *world) engine() *engine.Engine {
	w.t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := engine.Open(project.At(w.dir, ""), engine.Options{Log: quiet})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { e.Close() })
	return e
}

func (w *world) human() *engine.Session {
	w.t.Helper()
	return w.engine().Session(engine.Caller{Role: state.Human, Agent: "human", TTY: true})
}

// A client is connected to a ferrusd of its own.
type client struct {
	*mcpclient.Client
	t testing.TB
}

// start starts a server for an agent and connects to it.
func (w *world) start(role state.Role, name string, more ...string) *client {
	w.t.Helper()
	args := append([]string{"--role", string(role), "--agent-name", name, "--root", w.dir, "--wait", "30"}, more...)
	cmd := program(w.t, "serve", args...)
	cmd.Stderr = io.Discard // it is in .ferrus/logs too
	c, err := mcpclient.Start(context.Background(), name, cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Kill)
	return &client{c, w.t}
}

type args = map[string]any

// call calls a tool that must not be refused.
func (c *client) call(tool string, a args) tools.Result {
	c.t.Helper()
	res := c.try(tool, a)
	if res.Code != "" {
		c.t.Fatalf("%s is refused: %s %s; %s", tool, res.Code, res.Message, res.Remedy)
	}
	return res
}

// try calls a tool that may be refused.
func (c *client) try(tool string, a args) tools.Result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
	defer cancel()
	res, err := c.Call(ctx, tool, a)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// later calls a tool and hands its result over when it comes.
func (c *client) later(tool string, a args) <-chan tools.Result {
	done := make(chan tools.Result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), kit.Patience)
		defer cancel()
		res, err := c.Call(ctx, tool, a)
		if err != nil {
			c.t.Error(err)
		}
		done <- res
	}()
	return done
}

// claimed has a task that the client holds.
func (w *world) claimed(c *client) tools.Result {
	w.t.Helper()
	if _, err := w.human().CreateTask(context.Background(), "Build it.", ""); err != nil {
		w.t.Fatal(err)
	}
	return c.claim()
}

func (c *client) claim() tools.Result {
	c.t.Helper()
	res := c.call("wait_for_task", nil)
	if res.Status != "claimed" {
		c.t.Fatalf("no work: %s, %s", res.Status, res.Message)
	}
	return res
}

var (
	consultation = args{"problem": "Two ways.", "tried": "Both.", "question": "Which?"}
	submission   = args{"summary": "Built it.", "verification": "Ran it.", "no_change": "It was so."}
)

// history is the whole journal, which must be sound.
func (w *world) history() []*store.Line {
	w.t.Helper()
	var lines []*store.Line
	for l, err := range w.engine().Store().History() {
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func (w *world) count(ev state.Event) int {
	w.t.Helper()
	n := 0
	for _, l := range w.history() {
		if l.Event == ev {
			n++
		}
	}
	return n
}

// spread shows times in milliseconds: the median and the worst.
func spread(times []time.Duration) (median, worst time.Duration, text string) {
	slices.Sort(times)
	median, worst = times[len(times)/2], times[len(times)-1]
	return median, worst, fmt.Sprintf("median %.1f ms, worst %.1f ms of %d", ms(median), ms(worst), len(times))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
