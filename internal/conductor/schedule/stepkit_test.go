//go:build unix

package schedule

import (
	"context"
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

// sleeps is an agent that does nothing until it is ended.
const sleeps = "agent = \"command\"\ncommand = \"exec sleep 600\"\n"

// A bench is a project whose agents wait.
type bench struct {
	*enginetest.Machine
	t     *testing.T
	order func([]*act)
	ready func(context.Context, *engine.Engine) error
	tick  error
}

func newBench(t *testing.T, toml string) *bench {
	t.Helper()
	y := &bench{Machine: enginetest.Repository(t, enginetest.Gate("true")+toml+"[hq.supervisor]\n"+sleeps+"[hq.executor]\n"+sleeps), t: t}
	t.Cleanup(y.end)
	return y
}

// end ends all agents.
func (y *bench) end() {
	for _, e := range y.engines() {
		_ = conductor.EndAll(context.Background(), e)
	}
}

// engines are those of the project and its branches.
func (y *bench) engines() map[string]*engine.Engine {
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
func (y *bench) branch(name string, in state.State) {
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

func (y *bench) queued(name string) {
	y.t.Helper()
	if _, err := queue.Put(y.Path(".ferrus"), name, "Do "+name+"."); err != nil {
		y.t.Fatal(err)
	}
}

func (y *bench) runs() run.Place { return run.At(y.Dir, config.Default().Pipelines) }

// pipeline launches a run of two phases of commands.
func (y *bench) pipeline() *run.Folder {
	y.t.Helper()
	all, err := workflow.Parse([]byte(`{"p": {"phases": [{"id": "a", "workers": [{"role": "one", "run": "echo one > $FERRUS_OUTPUT"}]},
		{"id": "b", "workers": [{"role": "end", "final": true, "reads": ["one.md"], "run": "echo end > $FERRUS_OUTPUT"}]}]}}`))
	if err != nil {
		y.t.Fatal(err)
	}
	return enginetest.Must(y.runs().Launch(all[0], "topic", y.runs().Settings(config.Default()), time.Now()))(y.t)
}

// step makes a step.
func (y *bench) step(places int) []Decision {
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

func (y *bench) try(places int) ([]Decision, error) {
	return Step(y.t.Context(), y.Dir, StepOptions{Parallel: places, Caller: engine.Caller{Role: state.Human, Agent: "human", TTY: true},
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
func (y *bench) agents() map[string]bool {
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
