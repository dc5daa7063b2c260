package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/process"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/project"
)

// start starts workers, all at once, and returns when each has its slot. A worker that has its slot
// already was started by a process that died before it could record that. The shim records a failed
// start.
func (b *runState) start(roles []string) error {
	errs := make([]error, len(roles))
	done := make(chan struct{})
	for i, role := range roles {
		go func() {
			errs[i] = b.startOne(role)
			done <- struct{}{}
		}()
	}
	for range roles {
		<-done
	}
	return errors.Join(errs...)
}

func (b *runState) startOne(role string) error {
	order, err := b.order(role)
	if err != nil {
		return fmt.Errorf("start %s: %w", role, err)
	}
	before, err := b.f.Runs(role)
	if err != nil {
		return err
	}
	_, err = process.Start(order)
	if err == nil || errors.Is(err, process.ErrTaken) {
		return nil
	}
	if after, unread := b.f.Runs(role); unread == nil && len(after) > len(before) {
		return nil
	}
	return fmt.Errorf("start %s: %w", role, err)
}

// Agent returns the agent of a worker: that of the variant, else from ferrus.toml and the workflow.
func (s Settings) Agent(k workflow.Worker) config.Agent {
	if s.Variant != "" {
		k.Agent, k.Model, _ = strings.Cut(s.Variant, ":")
	}
	who := config.Agent{Agent: k.Agent}
	for _, known := range []config.Agent{s.Executor, s.Supervisor} {
		if k.Agent == "" || k.Agent == known.Agent {
			who = known
			break
		}
	}
	who.Model = cmp.Or(k.Model, who.Model)
	if len(s.Variant) > 0 {
		who.Fallback = nil // a variant is this agent and no other
	}
	return who
}

// standsIn returns the first agent of a worker's list that can work after the runs, and whether there is one; else the first of the list.
func (s Settings) standsIn(k workflow.Worker, runs []process.Run, now time.Time) (config.Agent, bool) {
	list := s.Agent(k).List()
	i := slices.IndexFunc(list, func(a config.Agent) bool { return process.Absent(runs, a.Agent, a.Model, now).Why == "" })
	return list[max(0, i)], i >= 0
}

// moved returns how many of a worker's attempts ended by what its client said of itself while another of its list could work.
func (f *Folder) moved(role string, runs []process.Run) (n int) {
	k, _ := f.Workflow.Worker(role)
	for i, r := range runs {
		if _, other := f.Settings.standsIn(k, runs[:i+1], r.Ended); k.Run == "" && r.Absence().Why != "" && other {
			n++
		}
	}
	return n
}

// order returns what the shim of a worker is started with.
func (b *runState) order(role string) (process.Order, error) {
	f := b.f
	k, phase := f.Workflow.Worker(role)
	number := b.status.Worker(role).Attempt + 1
	prompt, output := pipeline.Prompt(f.Workflow, role, b.status.Topic, func(file string) string { return f.Path(file) }), f.Path(k.File())
	speaks := f.Workflow.Phases[phase].How() == workflow.Talking
	if speaks {
		output = f.Path(pipeline.DialogueFile)
		prompt = pipeline.TurnPrompt(role, output)
	}
	asked, err := f.Questions()
	if err != nil {
		return process.Order{}, err
	}
	prompt += pipeline.Decisions(role, asked)
	if err := f.replace(promptsDir+"/"+role+".txt", []byte(prompt), 0o400); err != nil {
		return process.Order{}, err
	}
	o := process.Order{Slot: f.Slot(role), Runs: f.runs(role), Logs: f.Path(logsDir), Number: number}
	spec := agents.LaunchSpec{Duty: agents.Worker, Index: number, Prompt: prompt, Headless: true, Ferrus: b.o.Ferrus, Root: f.Settings.Root,
		Work: f.Settings.Root, Run: f.Dir, Name: role, Output: output, Speaks: speaks, Scratch: f.Path(workersDir, role), Environ: b.o.Environ}
	if err := b.staff(&o, k, spec); err != nil {
		return process.Order{}, err
	}
	o.Launch.Env = append(o.Launch.Env, project.PortEnv(spec.Work)...)
	if f.Workflow.All() {
		hold, err := json.Marshal(held{f.Dir, role})
		if err != nil {
			return process.Order{}, err
		}
		o.Hold = string(hold)
	}
	return o, nil
}

// staff fills in what an order starts: the command of a worker, or its agent.
func (b *runState) staff(o *process.Order, k workflow.Worker, spec agents.LaunchSpec) error {
	if k.Run != "" {
		o.Output = &process.Output{Temp: b.f.Path(workersDir, fmt.Sprintf("%s.%d.output", k.Role, o.Number)), Path: spec.Output, OK: k.OKExit}
		o.Run = process.Run{Duty: agents.Duty(k.Role), Agent: agents.CommandWorker}
		spec.Output = o.Output.Temp
		o.Launch = agents.Shell(k.Run, b.status.Topic, spec)
		return nil
	}
	runs, err := b.f.Runs(k.Role)
	if err != nil {
		return err
	}
	who, _ := b.f.Settings.standsIn(k, runs, b.o.Now())
	adapter, err := agents.Find(who.Agent)
	if err != nil {
		return err
	}
	spec.Model, spec.Args, spec.Command = who.Model, who.Args, who.Command
	o.Run = process.Run{Duty: agents.Duty(k.Role), Agent: adapter.Name, Model: who.Model}
	o.Launch, err = adapter.Launch(spec)
	return err
}

// end ends workers with all their processes, and returns when these have ended.
func (b *runState) end(ctx context.Context, roles []string) error {
	errs := make([]error, len(roles))
	done := make(chan struct{})
	for i, role := range roles {
		go func() {
			errs[i] = b.f.Slot(role).End(ctx)
			done <- struct{}{}
		}()
	}
	for range roles {
		<-done
	}
	return errors.Join(errs...)
}

// inputs makes the paths of a dialogue's inputs absolute.
func (f *Folder) inputs(text []byte) ([]byte, error) {
	d, err := pipeline.DecodeDialogue(text)
	if err != nil {
		return nil, err
	}
	for i, in := range d.Inputs {
		if !filepath.IsAbs(in) {
			d.Inputs[i] = f.Path(in)
		}
	}
	return d.Encode(), nil
}
