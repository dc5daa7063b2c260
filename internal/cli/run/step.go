package run

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	pipelinecmd "github.com/ferrus-go/ferrus/internal/cli/pipeline"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/conductor/schedule"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// placesOfStep is on how many branches agents work at a time if --parallel does not say.
const placesOfStep = 4

// StepCommand is ferrus step.
func StepCommand(a *cli.App) *cobra.Command {
	places, allowed := placesOfStep, false
	cmd := &cobra.Command{
		Use:   "step [--parallel N]",
		Short: "Make one decision for each task and pipeline, and return",
		Long: `Looks at the task, each branch and each running pipeline, makes one decision for
each of them, and returns: it starts a missing agent, ends one that is not
needed, or asks you. Agents that it starts keep running. Call it from cron or in
a loop, in place of "ferrus run". At most one branch is merged in a step.`,
		Example: `  ferrus step
  ferrus step --parallel 2
  ferrus step -C ~/src/site`,
		Annotations: cli.Reference(`All decisions are made from the facts at the start of the step. Then they are
carried out, so their order does not matter. What they share is taken in the
order of names: agents work on at most N branches at a time (default 4), and
free places go to branches first, then to tasks of the queue. A step that merges
a branch takes nothing from the queue, because a new branch begins with the
files of the project.

Each step uses the rules of "ferrus run --headless" and "ferrus run --explain":
a question waits for "ferrus answer", and [notify] reports it once. A task
that a "ferrus run" works on is left to it. Delegates of a task need no place,
and what their executor decided is carried out first. Approved work of a branch
is merged if [branches] on_approve is "merge". A merge that does not fit is
tried again when the branch or the project has changed. The step returns when
the agents run; a merge takes as long as its checks.

"ferrus tick" advances pipelines until nothing is left to do now; a step moves
each of them by one decision.

Exit codes:

- 0: the decisions were carried out, or there was nothing to do
- 1: an error occurred; the other decisions were carried out
- 7: another step, or "ferrus run --parallel", is at work`, `one object a line: kind (task, branch, merge, queue, pipeline) name state do
duty run why until error.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if places < 1 {
				return cli.UsageError("use --parallel 3", "--parallel %d is not a number of tasks", places)
			}
			return runStep(a, cmd.Context(), places, allowed)
		},
	}
	cmd.Flags().IntVar(&places, "parallel", placesOfStep, "let agents work on `N` branches at a time")
	cli.UnrehearsedFlag(cmd, &allowed)
	return cmd
}

func runStep(a *cli.App, ctx context.Context, places int, allowed bool) error {
	s, err := a.ProjectSession(ctx, "step")
	if err != nil {
		return err
	}
	defer s.Engine().Close()
	conf, err := cli.ValidConfig(s.Engine())
	if err != nil {
		return err
	}
	if err := a.WithTrust(s.Engine(), s.Engine().Known); err != nil {
		return err
	}
	if err := a.AllowUnrehearsed(s.Engine(), allowed, false); err != nil {
		return err
	}
	root := s.Engine().Place().Root
	opts, err := stepOptions(a, s, conf, places)
	if err != nil {
		return err
	}
	defer a.Notifies(ctx, root)()
	list, err := schedule.Step(ctx, root, opts)
	if err != nil {
		return err
	}
	return showStep(a, list)
}

// stepOptions are those of a step for a session of the project.
func stepOptions(a *cli.App, s *engine.Session, conf config.Config, places int) (schedule.StepOptions, error) {
	root := s.Engine().Place().Root
	opts, err := a.Options(root)
	if err != nil {
		return schedule.StepOptions{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return schedule.StepOptions{}, err
	}
	at := run.At(root, conf.Pipelines)
	p := &preparation{Session: s, conf: conf, program: program}
	return schedule.StepOptions{Parallel: places, Caller: s.Caller, Engine: opts, Runs: at,
		Conduct: func(e *engine.Engine) (conductor.Options, error) {
			conf, err := e.Config()
			return p.options(conf), err
		},
		Ready: func(ctx context.Context, e *engine.Engine) error {
			conf, err := e.Config()
			if err == nil {
				err = cli.CheckContinuable(ctx, e, conf, false)
			}
			return err
		},
		Tick: func(ctx context.Context, f *run.Folder) (run.Options, error) {
			if err := status.MadeHere(ctx, at, f); err != nil {
				return run.Options{}, err
			}
			o, err := pipelinecmd.NewProgress(a, f).Options()
			o.Report = nil // [notify] tells a person
			return o, err
		}}, nil
}

// showStep prints the decisions. Tasks that are over need no line.
func showStep(a *cli.App, list []schedule.Decision) error {
	broken, shown := false, 0
	var names []string
	for _, d := range list {
		names = append(names, d.Name)
	}
	name := a.Names(20, names)
	for _, d := range list {
		broken = broken || d.Err != nil
		if a.JSON {
			if err := a.PrintJSONLine(d); err != nil {
				return err
			}
			continue
		}
		if d.Err != nil {
			a.ShowFailure(strings.TrimSpace(string(d.Kind)+" "+d.Name)+": ", cli.Explain(d.Err))
			continue
		}
		if d.State.Over() && d.Do == "finish" && d.Why == "" {
			continue
		}
		shown++
		a.Say("%-8s  %s  %s\n", d.Kind, name(d.Name), stepWords(d))
	}
	if shown == 0 && !broken && !a.JSON {
		a.Say("nothing to do\n")
	}
	if broken {
		return cli.ExitWith(cli.ExitFailure)
	}
	return nil
}

// stepWords says in a line what was decided.
func stepWords(d schedule.Decision) string {
	why := format.Line(d.Why)
	switch {
	case d.Kind == schedule.Pipeline:
		return why
	case d.Kind == schedule.Queue:
		return "taken from the queue: " + why
	case d.Kind == schedule.Merge && why == "":
		return "merged into the project"
	case d.Run != "":
		return fmt.Sprintf("%s: started %s", d.State, d.Run)
	case d.State == state.AwaitingHuman && d.Do == "finish":
		return fmt.Sprintf("%s: waits for you: %s", d.State, refusal.OnBranch(d.Name, "ferrus answer{branch}"))
	case d.Do == "keep":
		why = "nothing to do yet"
	case d.Do == "end":
		why = "ended the " + d.Duty + ": " + why
	case d.Do == "park":
		why = "waits: " + why
	}
	if !d.Until.IsZero() {
		why += ", until " + d.Until.Local().Format(time.TimeOnly)
	}
	return strings.TrimPrefix(strings.TrimSuffix(string(d.State)+": "+why, ": "), ": ")
}
