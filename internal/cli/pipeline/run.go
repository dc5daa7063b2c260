package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A launching is how a pipeline is started.
type launching struct {
	nested bool
	detach bool
	dry    bool

	variants []string
}

func (how *launching) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&how.detach, "detach", false, "start the first workers and return")
	cmd.Flags().BoolVar(&how.dry, "dry-run", false, "print what would be started, and do nothing")
	variantFlag(cmd, &how.variants)
	cmd.Flags().BoolVar(&how.nested, "nested", false, "allow it in the shell of an agent")
}

func pipelineRunCommand(a *cli.App) *cobra.Command {
	var how launching
	cmd := &cobra.Command{
		Use:   "run NAME TOPIC...",
		Short: "Start a pipeline on a topic and wait for the result",
		Long: `Starts the pipeline NAME of workflows.json and waits until the result is
delivered. TOPIC is the rest of the line. [deliver] in ferrus.toml says where
the result goes. Ctrl-C does not end the workers; "ferrus pipeline resume" or
"ferrus tick" continues. With --detach it returns after the first workers are
started.`,
		Example: `  ferrus pipeline run research "caching in HTTP clients"
  ferrus pipeline run research "caching" --dry-run
  ferrus pipeline run research "caching" --detach
  ferrus pipeline run research "caching" --variant codex --variant claude-code`,
		Annotations: cli.Reference(`On a terminal, ferrus shows the progress as a small table. Otherwise it writes a
line for each event to stderr. If the result goes to stdout and stdout is not a
terminal, stdout has only the result. The run can be killed at any time.

With --detach, use "ferrus pipeline resume", or "ferrus tick" from cron, to
continue when the workers finish. If the pipeline has spawn "all", its workers
finish without it, and only the steps after them wait.

With --variant AGENT[:MODEL], all workers are that agent, except commands. Each
--variant is a run of its own. Several of them are started as with --detach.

In the shell of an agent the command is refused. --nested allows it.

Exit codes:

- 0: the result is delivered
- 1: the run failed or was cancelled
- 6: the run is waiting for you
- 130, 143: ctrl-C or SIGTERM ended the command`, `one object a line. kind (event): at rev event row roles[] runs[] reason why by
tell run state. kind (result): run text. The last line is kind (end): exit run
dir state delivered partial failure action{...} next[].`),
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error { return launchRun(a, cmd.Context(), how, words) },
	}
	how.flags(cmd)
	return cmd
}

// refuseAgent refuses a start in the shell of an agent.
func (how launching) refuseAgent() error {
	agent := os.Getenv("FERRUS_AGENT")
	if agent == "" || how.nested || how.dry {
		return nil
	}
	return cli.Refuse(refusal.ForbiddenRole, "agents do not start pipelines, and this shell belongs to "+agent+" (FERRUS_AGENT is set)",
		"a person starts pipelines; --nested allows it here")
}

// launchRun starts the pipeline that the first word names on the topic of the others.
func launchRun(a *cli.App, ctx context.Context, how launching, words []string) error {
	if err := how.refuseAgent(); err != nil {
		return err
	}
	at, conf, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	w, path, err := findWorkflow(a, ctx, words[0])
	if err != nil {
		return err
	}
	topic := strings.TrimSpace(strings.Join(words[1:], " "))
	if topic == "" {
		return cli.UsageError(refusal.Say("ferrus pipeline run %s %q", w.Name, "your topic"), "the pipeline %s needs a topic", w.Name)
	}
	if !how.dry {
		if err := a.TrustPipelines(ctx, conf); err != nil {
			return err
		}
	}
	all, err := variantsOf(at.Settings(conf), how.variants)
	if err != nil {
		return err
	}
	for _, settings := range all {
		if err := staffed(ctx, w, settings, path); err != nil {
			return err
		}
	}
	return eachVariant(a, ctx, at, all, how.detach, func(s run.Settings) (*run.Folder, error) {
		if how.dry {
			return nil, foresee(a, at, w, s, topic)
		}
		return at.Launch(w, topic, s, time.Now())
	})
}

// staffed refuses a pipeline whose agents are not there. path is where it stands.
func staffed(ctx context.Context, w workflow.Workflow, s run.Settings, path string) error {
	var who []config.Agent
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			if k.Run == "" {
				who = append(who, s.Agent(k))
			}
		}
	}
	ctx, end := cli.AskClients(ctx, s.Root, who...)
	defer end()
	for i, p := range w.Phases {
		for j, k := range p.Workers {
			if k.Run != "" {
				continue
			}
			named, table := "hq.executor.agent in ferrus.toml", "hq.executor"
			if k.Agent != "" {
				table = ""
				named = fmt.Sprintf("/%s/phases/%d/workers/%d/agent in %s", w.Name, i, j, path)
			}
			if err := cli.CheckStartable(ctx, s.Root, s.Agent(k), named, table); err != nil {
				return err
			}
		}
	}
	return nil
}

// A prospect is what a run would begin with.
type prospect struct {
	Run     string          `json:"run"`
	Dir     string          `json:"dir"`
	Topic   string          `json:"topic"`
	Action  status.Decision `json:"action"`
	Workers []planned       `json:"workers"`
}

// A planned worker would be started.
type planned struct {
	Role   string `json:"role"`
	Agent  string `json:"agent"`
	Model  string `json:"model,omitempty"`
	Prompt string `json:"prompt"` // path of the file
	Output string `json:"output"`
}

// foresee says what a launch would do. Nothing is made.
func foresee(a *cli.App, at run.Place, w workflow.Workflow, s run.Settings, topic string) error {
	now := time.Now()
	name := pipeline.DirName(w.Name, now, func(name string) bool {
		return rootfs.Exists(filepath.Join(at.Tmp, name)) || rootfs.Exists(filepath.Join(at.Archive, name))
	})
	act := pipeline.Decide(pipeline.Facts{Workflow: w, Status: pipeline.New(w, name, topic, now), Now: now})
	dir := filepath.Join(at.Tmp, name)
	p := prospect{Run: name, Dir: dir, Topic: topic, Action: status.DecisionOf(act), Workers: []planned{}}
	for _, role := range act.Roles {
		k, _ := w.Worker(role)
		who := s.Agent(k)
		if k.Run != "" {
			who = config.Agent{Agent: agents.CommandWorker}
		}
		p.Workers = append(p.Workers, planned{role, who.Agent, who.Model, filepath.Join(dir, "prompts", role+".txt"), filepath.Join(dir, k.File())})
	}
	if a.JSON {
		return a.PrintJSON(p)
	}
	a.Say("nothing was started; the run %s would start with: %s\n", name, act)
	for _, k := range p.Workers {
		a.Say("  %-16s  %s\n", k.Role, strings.TrimSpace(k.Agent+" "+k.Model))
		a.Say("    prompt  %s\n    output  %s\n", k.Prompt, k.Output)
	}
	a.ShowSteps([]status.Step{{Command: "ferrus pipeline prompt " + w.Name + " ROLE", Why: "shows the instructions of a worker"}})
	return nil
}

// once ticks a run and leaves the rest to others.
func once(a *cli.App, ctx context.Context, at run.Place, f *run.Folder) error {
	p := NewProgress(a, f)
	p.to = a // there is no result yet that it could be mixed with
	o, err := p.Options()
	if err != nil {
		return err
	}
	act, err := f.Tick(ctx, o)
	if err != nil {
		return err
	}
	if act.Do == pipeline.Archive || act.Person {
		return p.ended(at, f, act)
	}
	l, err := status.ReadRun(at, f, time.Now())
	if err != nil {
		return err
	}
	verdict := l.Run + " is active, and nothing advances it"
	if l.Conductor != 0 {
		verdict = fmt.Sprintf("%s is active, and process %d advances it", l.Run, l.Conductor)
	}
	return p.end(cli.ExitOK, l, verdict)
}
