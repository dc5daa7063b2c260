package branch

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// SelectCommand is ferrus select.
func SelectCommand(a *cli.App) *cobra.Command {
	var reason string
	var keep, best bool
	cmd := &cobra.Command{
		Use:   "select [NAME] [--best] [-m REASON] [--keep]",
		Short: "Take one of several attempts at a task",
		Long: `Without NAME it compares the branches. With NAME it approves that attempt if it
is under review and merges it into the project. Then it removes the other
attempts (NAME.1 removes the other NAME.N). With --keep the others stay. If the
merge fails, nothing is removed. With --best it scores the attempts and takes
the one with the highest score.`,
		Example: `  ferrus select
  ferrus select attempt.2 -m "smallest change"
  ferrus select attempt.2 --keep
  ferrus select --best`,
		Annotations: cli.Reference(`A supervisor can also select an attempt, with its tool select. Then run "ferrus
select NAME" to continue.

With --best, NAME is one of the attempts, or their name without the number. It
can be omitted if there is one group of attempts. All attempts must have ended,
and each that has handed in its work must have a score ("ferrus branches"
explains scores). Of equal scores the first by name is taken.`, "without NAME:\n"+branchesJSON+`
With NAME: merged tree written[] removed[] left[] gate{status seconds}.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if best {
				return selectBest(a, cmd.Context(), strings.Join(args, ""), reason, keep)
			}
			if len(args) == 0 {
				return candidates(a, cmd.Context())
			}
			return selectBranch(a, cmd.Context(), args[0], reason, keep)
		},
	}
	cmd.Flags().StringVarP(&reason, "message", "m", "", "`REASON` for the log")
	cmd.Flags().BoolVar(&best, "best", false, "take the attempt with the highest score")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the other attempts")
	a.SubmissionFlag(cmd)
	return cmd
}

func candidates(a *cli.App, ctx context.Context) error {
	list, err := attempts(a, ctx, "")
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"branches": list})
	}
	if len(list) == 0 {
		return cli.Refuse(refusal.WrongState, "there are no branches to select from", "ferrus branch NAME -n 3 creates three attempts at the task")
	}
	ShowAttempts(a, list)
	a.ShowSteps([]status.Step{{Command: "ferrus diff --branch NAME", Why: "shows the changes of one"}, {Command: "ferrus select NAME", Why: "merges it and deletes the other attempts"},
		{Command: "ferrus select --best", Why: "takes the one with the highest score"}})
	return nil
}

// selectBranch takes an attempt.
func selectBranch(a *cli.App, ctx context.Context, name, reason string, keep bool) error {
	return a.Decide(ctx, status.Request{Kind: status.ActNamed("select"), Branch: name, Keep: keep}, cli.Source{Message: reason})
}
