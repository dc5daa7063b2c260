package pipeline

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

func pipelineCancelCommand(a *cli.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "cancel [RUN] [--yes]",
		Short: "Cancel a run and its workers, and archive it",
		Long: `Ends the workers of a run with their processes, delivers nothing, and archives
the run. It asks first; without a terminal it needs --yes.`,
		Example: `  ferrus pipeline cancel
  ferrus pipeline cancel research-180141 --yes`,
		Annotations:       cli.Reference("", "the lines of \"ferrus pipeline run\"."),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(a, active),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cancelRun(a, cmd.Context(), strings.Join(args, ""), yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func cancelRun(a *cli.App, ctx context.Context, name string, yes bool) error {
	at, f, err := askedOf(a, ctx, pipeline.Cancel, name)
	if err != nil {
		return err
	}
	if !yes {
		if err := confirmCancel(a, f); err != nil {
			return err
		}
	}
	if err := want(a, f, run.Intent{Verb: pipeline.Cancel}); err != nil {
		return err
	}
	return conductRun(a, ctx, at, f, pipeline.Cancel)
}

// confirmCancel asks the person at the terminal.
func confirmCancel(a *cli.App, f *run.Folder) error {
	if !a.InTTY {
		return cli.UsageError(refusal.Say("ferrus pipeline cancel %s --yes", f.Name()), "stdin is not a terminal, so ferrus cannot ask whether to cancel %s", f.Name())
	}
	s, err := f.Status()
	if err != nil {
		return err
	}
	cli.Fprintf(a.Err, "Cancel %s (%s, %s)? This ends its workers and delivers nothing. [y/N] ", f.Name(), format.Clip(format.Line(s.Topic), 60), s.State)
	if a.Agrees(false) {
		return nil
	}
	return cli.Refuse(refusal.WrongState, "not cancelled: nothing was changed", "")
}
