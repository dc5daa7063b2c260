//go:build unix

package step

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/engine/enginetest"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/project/queue"
	"github.com/ferrus-go/ferrus/internal/state"
)

var full = flag.Bool("full", false, "try all orders: a minute or two")

func TestMain(m *testing.M) {
	process.Shim(run.Hold)
	enginetest.Full = full
	os.Exit(enginetest.Main(m.Run))
}

// waits is an agent that does nothing until it is ended.
const waits = "agent = \"command\"\ncommand = \"exec sleep 600\"\n"

// A yard is a project whose agents wait.
type yard struct {
	*enginetest.Machine
	t     *testing.T
	order func([]*act)
	ready func(context.Context, *engine.Engine) error
	tick  error
}

func newYard(t *testing.T, toml string) *yard {
	t.Helper()
	y := &yard{Machine: enginetest.Repository(t, enginetest.Gate("true")+toml+"[hq.supervisor]\n"+waits+"[hq.executor]\n"+waits), t: t}
	t.Cleanup(y.end)
	return y
}

// end ends all agents.
func (y *yard) end() {
	for _, e := range y.engines() {
		_ = conductor.EndAll(context.Background(), e)
	}
}

// engines are those of the project and its branches.
func (y *yard) engines() map[string]*engine.Engine {
	y.t.Helper()
	all := map[string]*engine.Engine{"": y.Machine.Human().Engine()}
	entries, _ := os.ReadDir(y.Path(".ferrus/branches"))
	for _, e := range entries {
		if e.IsDir() {
			all[e.Name()] = y.On(e.Name()).Human().Engine()
		}
	}
	return all
}

// branch makes a branch with a task, in a state.
func (y *yard) branch(name string, in state.State) {
	y.t.Helper()
	enginetest.Branched(y.t, y.Machine.Human(), branch.Fork{Names: []string{name}, Own: true})
	on := y.On(name)
	enginetest.Must(on.Human().CreateTask(y.t.Context(), "Do "+name+".", ""))(y.t)
	switch in {
	case state.Reviewing:
		ex := on.Executor("codex")
		enginetest.Claim(y.t, ex)
		on.Write(name+".txt", name+"\n")
		enginetest.Submitted(y.t, ex)
		enginetest.Dies(y.t, ex)
	case state.Complete:
		on.Does(name+".txt", name+"\n")
	case state.AwaitingHuman:
		ex := on.Executor("codex")
		enginetest.Claim(y.t, ex)
		enginetest.Must(ex.AskHuman(y.t.Context(), "May I?", nil))(y.t)
		enginetest.Dies(y.t, ex)
	}
}

func (y *yard) queued(name string) {
	y.t.Helper()
	if _, err := queue.Put(y.Path(".ferrus"), name, "Do "+name+"."); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) runs() run.Place { return run.At(y.Dir, config.Default().Pipelines) }

// pipeline launches a run of two phases of commands.
func (y *yard) pipeline() *run.Folder {
	y.t.Helper()
	all, err := workflow.Parse([]byte(`{"p": {"phases": [{"id": "a", "workers": [{"role": "one", "run": "echo one > $FERRUS_OUTPUT"}]},
		{"id": "b", "workers": [{"role": "end", "final": true, "reads": ["one.md"], "run": "echo end > $FERRUS_OUTPUT"}]}]}}`))
	if err != nil {
		y.t.Fatal(err)
	}
	return enginetest.Must(y.runs().Launch(all[0], "topic", y.runs().Settings(config.Default()), time.Now()))(y.t)
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// step makes a step.
func (y *yard) step(places int) []Decision {
	y.t.Helper()
	list, err := y.try(places)
	if err != nil {
		y.t.Fatal(err)
	}
	for _, d := range list {
		if d.Err != nil {
			y.t.Fatalf("%s %s: %v", d.Kind, d.Name, d.Err)
		}
	}
	return list
}

func (y *yard) try(places int) ([]Decision, error) {
	return Run(y.t.Context(), y.Dir, Options{Parallel: places, Caller: engine.Caller{Role: state.Human, Agent: "human", TTY: true},
		Engine: engine.Options{Log: quiet}, Runs: y.runs(), order: y.order, Ready: y.ready,
		Conduct: func(e *engine.Engine) (conductor.Options, error) {
			conf, err := e.Config()
			return conductor.Options{Ferrus: "/bin/false", Lease: conf.Lease, Environ: os.Environ(), Log: quiet}, err
		},
		Tick: func(context.Context, *run.Folder) (run.Options, error) {
			return run.Options{Ferrus: "/bin/false", Environ: os.Environ(), Log: quiet}, y.tick
		}})
}

// agents are the agents that work, by the branch and the duty.
func (y *yard) agents() map[string]bool {
	all := map[string]bool{}
	for name, e := range y.engines() {
		for _, d := range []string{"executor", "consultant", "reviewer"} {
			if _, taken := process.Path(e.Place().Path(), name, d).Taken(); taken {
				all[name+" "+d] = true
			}
		}
	}
	return all
}
