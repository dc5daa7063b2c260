package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ResetCommand is ferrus reset.
func ResetCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [--yes] [-m REASON]",
		Short: "Abandon the task and archive it",
		Long: `Archives the task and returns to Idle. The agents of a run are ended, and later
calls of other agents are refused. The files of the work tree stay as they are.
It asks first; without a terminal it needs --yes. If the state is Idle, there is
nothing to do, and the exit code is 0.`,
		Example: `  ferrus reset
  ferrus reset --yes -m "no longer needed"`,
		Annotations: cli.Reference("", cli.VerdictJSON),
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return runReset(a, cmd.Context(), yes, from.Message) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	from.MessageFlag(cmd, "`REASON` for the journal")
	a.TaskFlag(cmd)
	return cmd
}

func runReset(a *cli.App, ctx context.Context, yes bool, reason string) error {
	s, err := a.OpenAsPerson(ctx, "reset")
	if err != nil {
		return err
	}
	e := s.Engine()
	defer e.Close()
	r, err := status.Read(e)
	if err != nil {
		return err
	}
	if r.State == state.Idle {
		if a.JSON {
			return a.PrintJSON(map[string]any{"state": r.State, "seq": r.Seq, "epoch": r.Epoch})
		}
		a.Say("nothing to do: there is no task\n")
		return nil
	}
	if !yes {
		if err := confirmReset(a, r); err != nil {
			return err
		}
	}
	a.Shown.Task = r.TaskID // what is archived is what the person confirmed
	return a.Decide(ctx, status.Request{Kind: status.ActNamed("reset")}, cli.Source{Message: reason})
}

// confirmReset asks the person at the terminal.
func confirmReset(a *cli.App, r *status.Report) error {
	if !a.InTTY {
		return cli.UsageError("ferrus reset{branch} --yes", "stdin is not a terminal, so ferrus cannot ask whether to abandon %s", r.TaskID)
	}
	cli.Fprintf(a.Err, "Abandon and archive %s (%s, %s)? [y/N] ", r.TaskID, format.Clip(format.Line(r.Title), 60), r.State)
	if a.Agrees(false) {
		return nil
	}
	return cli.Refuse(refusal.WrongState, "not reset: nothing was changed", "")
}
