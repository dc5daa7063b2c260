package task

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ReopenCommand is ferrus reopen.
func ReopenCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	cmd := &cobra.Command{
		Use:   "reopen -m TEXT | -f FILE",
		Short: "Reopen a finished or failed task",
		Long: `Sends a Complete or Failed task back to the executor. The text becomes
REVIEW.md. The budgets of checks and reviews start again at 0.`,
		Example: `  ferrus reopen -m "also handle empty input"
  ferrus reopen -f review.md`,
		Annotations: cli.Reference("", cli.VerdictJSON),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.RequireText(cmd, `ferrus reopen{branch} -m "what is missing"`); err != nil {
				return err
			}
			return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("reopen")}, from)
		},
	}
	from.MessageFlag(cmd, "`TEXT` that says what is missing")
	from.FileFlag(cmd)
	a.TaskFlag(cmd)
	a.ResumeFlag(cmd)
	return cmd
}
