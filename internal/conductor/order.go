package conductor

import (
	"context"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/conductor/plan"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state"
)

// order returns what the shim of a missing agent is started with, and why it continues an earlier session or does not;
// "" where that is not asked for.
func (c *conductor) order(f Facts, act Act) (order process.Order, why string, err error) {
	who := choose(f, act.Duty).Agent
	adapter, err := agents.Find(who.Agent)
	if err != nil {
		return process.Order{}, "", err
	}
	place := c.e.Place()
	earlier, why := f.conversation(act.Duty, adapter, who.Model)
	if earlier.session != "" {
		act.Prompt = continuing
	}
	prompt, err := promptFor(act.Prompt)
	if err != nil {
		return process.Order{}, "", err
	}
	work := place.Work // what the journal says may be a folder of another computer
	spec := agents.LaunchSpec{Duty: act.Duty, Index: 1, Model: who.Model, Args: who.Args, Command: who.Command,
		Prompt: prompt, Headless: true, Ferrus: c.Ferrus, Root: place.Root, Branch: place.Branch, Work: work,
		Scratch: c.e.Place().Path(liveDir), Environ: c.Environ, Session: earlier.session, Fork: earlier.fork}
	run := process.Run{Duty: act.Duty, Agent: adapter.Name, Model: who.Model, At: f.Journal.Bytes, Continues: earlier.session}
	inside, outside, err := confined(f, place, adapter, &spec)
	if err != nil {
		return process.Order{}, "", err
	}
	run.Outside = outside
	if inside != nil {
		run.Sandbox = string(inside.Mechanism)
	}
	launch, err := adapter.Launch(spec)
	if err != nil {
		return process.Order{}, "", err
	}
	number := process.Next(f.Runs, act.Duty)
	launch.Env = append(launch.Env, "TRACEPARENT="+agents.TraceParent(f.Task.TaskID, process.Name(act.Duty, number)))
	launch.Env = append(launch.Env, project.PortEnv(work)...)
	if inside == nil && f.Gate.HQ.Sandbox.On() {
		git, err := plan.GitEnviron(context.Background(), place, work)
		if err != nil {
			return process.Order{}, "", err
		}
		launch.Env = append(launch.Env, git...)
	}
	return process.Order{Slot: c.slot(act.Duty), Runs: Runs(c.e, f.Task.TaskID), Logs: c.e.Place().Path("logs"), Tag: f.Task.TaskID, Number: number,
		Run: run, Launch: launch, Inside: inside}, why, nil
}

// Agent returns the agent that ferrus.toml names for a duty.
func Agent(conf config.HQ, d agents.Duty) config.Agent {
	if d.Role() == state.Executor {
		return conf.Executor
	}
	return conf.Supervisor
}
