package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
)

func approveCommand(a *app) *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "approve [-m NOTE]",
		Short: "Accept the submission: the task is Complete",
		Long: `Accepts the present submission in the supervisor's place. It is refused when the work tree is no longer the one that
was submitted. The work lies in the work tree, uncommitted: ferrus diff shows it.` + verdictJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.pass(cmd.Context(), approve, from.message)
		},
	}
	from.messageFlag(cmd, "a `NOTE` for the journal")
	return cmd
}

var approve = verdict{"approve", "approve",
	func(ctx context.Context, s *engine.Session, note string) (engine.Done, error) {
		return s.Approve(ctx, note, "")
	},
	func(a *app, done engine.Done) {
		a.say("%s approved: %s is %s\n", done.Task.Submission.ID, done.Task.TaskID, a.paint(green, string(done.Task.State)))
	},
}
