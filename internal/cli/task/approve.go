package task

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ApproveCommand is ferrus approve.
func ApproveCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	cmd := &cobra.Command{
		Use:   "approve [-m NOTE]",
		Short: "Approve the submission and complete the task",
		Long: `Approves the present submission in place of the supervisor. It is refused if the
work tree differs from the submission. The work is in the work tree and not
committed: "ferrus diff" shows it.`,
		Example: `  ferrus approve
  ferrus approve -m "checked by hand"`,
		Annotations: cli.Reference("", cli.VerdictJSON),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("approve")}, from)
		},
	}
	a.SubmissionFlag(cmd)
	from.MessageFlag(cmd, "`NOTE` for the journal")
	return cmd
}
