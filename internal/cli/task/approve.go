package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
)

// ApproveCommand is ferrus approve.
func ApproveCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	cmd := &cobra.Command{
		Use:   "approve [-m NOTE]",
		Short: "Accept the submission: the task is Complete",
		Long: `Accepts the present submission in the supervisor's place. It is refused when the work tree is no longer the one that
was submitted. The work lies in the work tree, uncommitted: ferrus diff shows it.` + cli.VerdictJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Decide(cmd.Context(), approve, from.Message)
		},
	}
	from.MessageFlag(cmd, "a `NOTE` for the journal")
	return cmd
}

var approve = cli.Decision{Verb: "approve", What: "approve",
	Act: func(ctx context.Context, s *engine.Session, note string) (engine.Done, error) {
		return s.Approve(ctx, note, "")
	},
	Told: func(a *cli.App, done engine.Done) {
		a.Say("%s approved: %s is %s\n", done.Task.Submission.ID, done.Task.TaskID, a.Paint(cli.Green, string(done.Task.State)))
	},
}
