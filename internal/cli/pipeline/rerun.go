package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A rerunning is how a run is run again.
type rerunning struct {
	from, more string
	detach     bool
	variants   []string
}

func pipelineRerunCommand(a *cli.App) *cobra.Command {
	var how rerunning
	cmd := &cobra.Command{
		Use:   "rerun RUN [--from ROLE|PHASE] [-m TEXT]",
		Short: "Take a finished run up again in a new folder",
		Long: `Starts a new run with the workflow and the topic of a finished one. The outputs
before ROLE or PHASE are copied, and the workers from there on work again. By
default it begins with the first worker that did not finish, or with the first
phase if all did. TEXT is added to the topic. The finished run is not changed.
It shows the progress and ends as "ferrus pipeline run" does. Each --variant is
a new run whose workers are another agent.`,
		Example: `  ferrus pipeline rerun research-180141
  ferrus pipeline rerun research-180141 --from synthesis
  ferrus pipeline rerun research-180141 --from synthesizer -m "Shorter, please"
  ferrus pipeline rerun research-180141 --from synthesis --variant claude-code`,
		Annotations: cli.Reference(`Each copied output must still have the hash that the finished run recorded. The
new run records the hashes, and the name of the finished run, in the first line
of its journal. The commands and agents in the workflow of the finished run must
be ones that you have agreed to.

With --variant AGENT[:MODEL], the workers that work again are that agent, except
commands; the copied outputs stay as they are. Without it, the agents are those
of the finished run. Several variants are started as with --detach.`, "as ferrus pipeline run."),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeRuns(a, finished),
		RunE:              func(cmd *cobra.Command, args []string) error { return rerun(a, cmd.Context(), args[0], how) },
	}
	cmd.Flags().StringVar(&how.from, "from", "", "begin with this worker or `PHASE`")
	cmd.Flags().StringVarP(&how.more, "message", "m", "", "add this `TEXT` to the topic")
	cmd.Flags().BoolVar(&how.detach, "detach", false, "start the first workers and return")
	variantFlag(cmd, &how.variants)
	completeFrom(a, cmd, finished)
	return cmd
}

func rerun(a *cli.App, ctx context.Context, name string, how rerunning) error {
	if err := a.RefuseAgent("pipeline rerun"); err != nil {
		return err
	}
	at, conf, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	old, err := openRun(a, at, name)
	if err == nil {
		err = status.MadeHere(ctx, at, old)
	}
	if err != nil {
		return err
	}
	if err := a.TrustWorkflow(ctx, conf, old.Workflow); err != nil {
		return err
	}
	settings := at.Settings(conf)
	settings.Variant = old.Settings.Variant
	all, err := variantsOf(settings, how.variants)
	if err != nil {
		return err
	}
	for _, settings := range all {
		if err := staffed(ctx, old.Workflow, settings, "the run "+old.Name()); err != nil {
			return err
		}
	}
	return eachVariant(a, ctx, at, all, how.detach, func(s run.Settings) (*run.Folder, error) {
		f, err := at.Rerun(old, how.from, strings.TrimSpace(how.more), s, time.Now())
		if err != nil {
			return nil, cannotRerun(old, err)
		}
		if f, err = run.Open(f.Dir); err != nil {
			return nil, err
		}
		if !a.JSON {
			cli.Fprintf(a.Err, "%s takes up %s from %s, with %s of it\n", f.Name(), old.Name(), f.Origin.From,
				format.Count(len(f.Origin.Outputs), "output", "outputs"))
		}
		return f, nil
	})
}

// cannotRerun says why a run cannot be run again, and what can be done instead.
func cannotRerun(old *run.Folder, err error) error {
	again := "ferrus pipeline rerun " + old.Name() + " --from "
	var point *pipeline.PointError
	var changed *run.ChangedError
	switch {
	case errors.Is(err, run.ErrActive):
		return cli.Refuse(refusal.WrongState, old.Name()+" has not ended", refusal.Say(
			"ferrus pipeline retry %[1]s --from ROLE repeats a part of it; ferrus pipeline cancel %[1]s ends it", old.Name()))
	case errors.As(err, &point) && point.Unfinished == nil:
		known := places(old.Workflow)
		remedy := refusal.Say("name one of %s", strings.Join(known, ", "))
		if near := format.Word(point.From, known); near != "" {
			remedy = refusal.Say("did you mean %s? %s", near, remedy)
		}
		return cli.UsageError(remedy, "%s has no worker and no phase %q", old.Name(), point.From)
	case errors.As(err, &point):
		return cli.Refuse(refusal.WrongState, fmt.Sprintf("cannot rerun %s from %s: there is no output of %s", old.Name(), point.From,
			strings.Join(point.Unfinished, ", ")), refusal.Say("%s", again+point.Unfinished[0]))
	case errors.As(err, &changed):
		return cli.Refuse(refusal.WrongState, fmt.Sprintf("cannot rerun %s: %v", old.Name(), changed), refusal.Say(
			"%s has it written again; or restore the file %s", again+changed.Roles[0], old.Path(changed.File)))
	}
	return err
}

// places are the roles and the phases of a pipeline.
func places(w workflow.Workflow) []string {
	names := roles(w)
	for _, p := range w.Phases {
		if !slices.Contains(names, p.ID) {
			names = append(names, p.ID)
		}
	}
	return names
}
