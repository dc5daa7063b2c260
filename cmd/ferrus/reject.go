package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/state"
)

func rejectCommand(a *app) *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "reject -m TEXT | -f FILE",
		Short: "Send the submission back with what is wrong",
		Long: `Sends the present submission back in the supervisor's place; the text becomes REVIEW.md, which the executor is given.
The last of limits.max_review_cycles rejections fails the task.` + verdictJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := a.needText(cmd, from, `ferrus reject -m "what is wrong"`)
			if err != nil {
				return err
			}
			return a.pass(cmd.Context(), reject, text)
		},
	}
	from.messageFlag(cmd, "`TEXT` that says what is wrong")
	from.fileFlag(cmd)
	return cmd
}

var reject = verdict{"reject", "reject",
	func(ctx context.Context, s *engine.Session, notes string) (engine.Done, error) {
		return s.Reject(ctx, notes, "")
	},
	func(a *app, done engine.Done) {
		t := done.Task
		if t.State == state.Failed {
			a.say("%s rejected: %s has failed\n  %s\n", t.Submission.ID, t.TaskID, t.FailureReason)
			return
		}
		a.say("%s rejected: %s is %s again\n", t.Submission.ID, t.TaskID, t.State)
		a.say("  an executor that calls wait_for_task gets it, with your text\n")
	},
}
