package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/engine"
)

func reopenCommand(a *app) *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use:   "reopen -m TEXT | -f FILE",
		Short: "Take a finished or failed task up again",
		Long:  `Sends a Complete or Failed task back to work. The text becomes REVIEW.md; both budgets start anew.` + verdictJSON,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := a.needText(cmd, from, `ferrus reopen -m "what is missing"`)
			if err != nil {
				return err
			}
			return a.pass(cmd.Context(), reopen, text)
		},
	}
	from.messageFlag(cmd, "`TEXT` that says what is missing")
	from.fileFlag(cmd)
	return cmd
}

var reopen = verdict{"reopen", "reopen",
	func(ctx context.Context, s *engine.Session, text string) (engine.Done, error) {
		return s.Reopen(ctx, text)
	},
	func(a *app, done engine.Done) {
		a.say("%s is %s again; an executor that calls wait_for_task gets it, with your text\n", done.Task.TaskID, done.Task.State)
	},
}
