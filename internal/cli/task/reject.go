package task

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// RejectCommand is ferrus reject.
func RejectCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	cmd := &cobra.Command{
		Use:   "reject -m TEXT | -f FILE",
		Short: "Reject the submission and say what is wrong",
		Long: `Rejects the present submission in place of the supervisor. The text becomes
REVIEW.md, which the executor reads. When limits.max_review_cycles rejections
are used, the task fails.`,
		Example: `  ferrus reject -m "the error message lacks the file name"
  ferrus reject -f review.md`,
		Annotations: cli.Reference("", cli.VerdictJSON),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.RequireText(cmd, `ferrus reject{branch} -m "what is wrong"`); err != nil {
				return err
			}
			return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("reject")}, from)
		},
	}
	a.SubmissionFlag(cmd)
	a.ResumeFlag(cmd)
	from.MessageFlag(cmd, "`TEXT` that says what is wrong")
	from.FileFlag(cmd)
	return cmd
}
