package pipeline

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

func pipelineResumeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Continue a run after a pause, a crash or ctrl-C",
		Long: `Continues a paused run. If a run failed only because workers with an output did
not exit well, it accepts their outputs. After a crash, ctrl-C or --detach it
continues here: workers that still run stay, and missing ones are started. It
shows the progress and ends as "ferrus pipeline run" does.`,
		Example: `  ferrus pipeline resume
  ferrus pipeline resume research-180141`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(a, active),
		RunE: func(cmd *cobra.Command, args []string) error {
			return resumeRun(a, cmd.Context(), strings.Join(args, ""))
		},
	}
}

func pipelineRetryCommand(a *cli.App) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "retry [RUN] [--from ROLE|PHASE]",
		Short: "Start failed workers of a run again",
		Long: `Starts the workers that failed again, or those of --from, and all workers that
use their outputs. Earlier outputs are moved to attempts/ in the folder of the
run. It shows the progress and ends as "ferrus pipeline run" does. If another
process advances the run already, it returns at once.`,
		Example: `  ferrus pipeline retry
  ferrus pipeline retry --from review`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(a, active),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(a, cmd.Context(), strings.Join(args, ""), run.Intent{Verb: pipeline.Retry, From: from})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "start with this worker or `PHASE`")
	completeFrom(a, cmd, active)
	return cmd
}

func pipelineDeliverCommand(a *cli.App) *cobra.Command {
	var confirm, again bool
	cmd := &cobra.Command{
		Use:   "deliver [RUN] --confirm|--again",
		Short: "Say whether a result arrived that may be lost",
		Long: `Use it if the process that sent the result died, so that ferrus cannot know
whether the result arrived. --confirm says that it did. --again sends it again.
It shows the progress and ends as "ferrus pipeline run" does.`,
		Example: `  ferrus pipeline deliver --confirm
  ferrus pipeline deliver research-180141 --again`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(a, active),
		RunE: func(cmd *cobra.Command, args []string) error {
			verb := pipeline.Confirm
			switch {
			case confirm == again:
				return cli.UsageError("check whether the result arrived; then use --confirm if it did, --again if not", "use either --confirm or --again")
			case again:
				verb = pipeline.Again
			}
			return ask(a, cmd.Context(), strings.Join(args, ""), run.Intent{Verb: verb})
		},
	}
	cmd.Flags().BoolVar(&confirm, "confirm", false, "the result arrived")
	cmd.Flags().BoolVar(&again, "again", false, "send the result again")
	return cmd
}

// askedOf opens a run for a verb of a person.
func askedOf(a *cli.App, ctx context.Context, verb pipeline.Verb, name string) (run.Place, *run.Folder, error) {
	if err := a.RefuseAgent("pipeline " + word(verb)); err != nil {
		return run.Place{}, nil, err
	}
	at, _, err := Runs(a, ctx)
	if err != nil {
		return at, nil, err
	}
	f, err := openRun(a, at, name)
	if err == nil {
		err = cmp.Or(status.MadeHere(ctx, at, f), cli.CannotDo(word(verb)+" "+f.Name(), "", status.NotArchived(at, f, "it")))
	}
	return at, f, err
}

// word is how a verb is called on the command line.
func word(v pipeline.Verb) string {
	if v == pipeline.Confirm || v == pipeline.Again {
		return "deliver"
	}
	return string(v)
}

// ask has something done about a run, and sees the run on from there.
func ask(a *cli.App, ctx context.Context, name string, i run.Intent) error {
	at, f, err := askedOf(a, ctx, i.Verb, name)
	if err != nil {
		return err
	}
	if known := places(f.Workflow); i.From != "" && !slices.Contains(known, i.From) {
		return cli.UsageError(refusal.Say("name one of %s", strings.Join(known, ", ")), "%s has no worker and no phase %q", f.Name(), i.From)
	}
	if err := want(a, f, i); err != nil {
		return err
	}
	if f.Leader() != 0 { // it is his stdout that waits for the result
		return once(a, ctx, at, f)
	}
	return conductRun(a, ctx, at, f, i.Verb)
}

// want writes down what a person asks for.
func want(a *cli.App, f *run.Folder, i run.Intent) error {
	i.ID, i.By = rand.Text(), "human"
	err := f.Ask(i, time.Now())
	var refused *run.RefusedError
	switch {
	case errors.As(err, &refused):
		return cli.Refuse(refusal.WrongState, fmt.Sprintf("cannot %s %s: %v", word(i.Verb), f.Name(), refused), instead(f, refused))
	case errors.Is(err, run.ErrGone):
		return cli.Refuse(refusal.WrongState, f.Name()+" has finished meanwhile", refusal.Say("ferrus pipeline status %s shows it", f.Name()))
	}
	return err
}

// instead says what can be done about a run of which something else was asked.
func instead(f *run.Folder, refused *run.RefusedError) refusal.Own {
	if v, err := f.View(time.Now()); err == nil && len(v.Facts.Open()) > 0 {
		return refusal.Say(`ferrus answer{branch} --run %s "..." answers its question`, f.Name())
	}
	switch refused.State {
	case pipeline.IsPaused:
		return refusal.Say("ferrus pipeline resume %s continues it", f.Name())
	case pipeline.IsFailed:
		return refusal.Say("ferrus pipeline retry %s starts failed workers again; ferrus pipeline cancel ends it", f.Name())
	case pipeline.IsDelivering:
		return refusal.Say("ferrus pipeline deliver %s --confirm if the result arrived, --again if not", f.Name())
	}
	return refusal.Say("ferrus pipeline status %s shows what it waits for", f.Name())
}

// resumeRun lets a run go on, and conducts it. It is refused only where nothing but another verb gets it any further, or
// where another conducts it.
func resumeRun(a *cli.App, ctx context.Context, name string) error {
	at, f, err := askedOf(a, ctx, pipeline.Resume, name)
	if err != nil {
		return err
	}
	v, err := f.View(time.Now())
	if err != nil {
		return err
	}
	if v.Action.Person {
		if err := want(a, f, run.Intent{Verb: pipeline.Resume}); err != nil {
			return err
		}
	} else if pid := f.Leader(); pid != 0 {
		return &cli.Failure{Code: string(refusal.LockBusy), Message: fmt.Sprintf("process %[2]d advances %[1]s already", f.Name(), pid), Exit: cli.ExitBusy,
			Remedy: refusal.Say("ferrus pipeline status %s shows its progress; ferrus pipeline cancel ends it and its workers", f.Name())}
	}
	return conductRun(a, ctx, at, f, pipeline.Resume)
}
