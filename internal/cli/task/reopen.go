package task

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
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
			text, err := a.RequireText(cmd, from, `ferrus reopen{branch} -m "what is missing"`)
			if err != nil {
				return err
			}
			return a.Decide(cmd.Context(), reopen, text)
		},
	}
	from.MessageFlag(cmd, "`TEXT` that says what is missing")
	from.FileFlag(cmd)
	a.TaskFlag(cmd)
	a.ResumeFlag(cmd)
	return cmd
}

var reopen = cli.Decision{Verb: "reopen", What: "reopen", Continues: true,
	Act: func(ctx context.Context, s *engine.Session, text string) (engine.Done, error) {
		return s.Reopen(ctx, text)
	},
	Report: func(a *cli.App, done engine.Done) {
		a.Say("%s is %s again; an executor that calls wait_for_task gets it, with your text\n", done.Task.TaskID, done.Task.State)
	},
}
