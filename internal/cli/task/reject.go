package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state"
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
			text, err := a.RequireText(cmd, from, `ferrus reject{branch} -m "what is wrong"`)
			if err != nil {
				return err
			}
			return a.Decide(cmd.Context(), reject, text)
		},
	}
	a.SubmissionFlag(cmd)
	a.ResumeFlag(cmd)
	from.MessageFlag(cmd, "`TEXT` that says what is wrong")
	from.FileFlag(cmd)
	return cmd
}

var reject = cli.Decision{Verb: "reject", What: "reject", Continues: true,
	Act: func(ctx context.Context, s *engine.Session, notes string) (engine.Done, error) {
		return s.Reject(ctx, notes, "")
	},
	Report: func(a *cli.App, done engine.Done) {
		t := done.Task
		if t.State == state.Failed {
			a.Say("%s rejected: %s has failed\n  %s\n", t.Submission.ID, t.TaskID, format.Line(t.FailureReason))
			return
		}
		a.Say("%s rejected: %s is %s again\n", t.Submission.ID, t.TaskID, t.State)
		a.Say("  an executor that calls wait_for_task gets it, with your text\n")
	},
}
