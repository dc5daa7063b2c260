package task

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// ReleaseCommand is ferrus release.
func ReleaseCommand(a *cli.App) *cobra.Command {
	var from cli.Source
	cmd := &cobra.Command{
		Use:   "release [-m REASON]",
		Short: "Unassign the agent that claimed the task",
		Long: `Ends the claim of the executor. Its next call is refused, its running check is
ended, and another executor may claim the task. An agent that "ferrus run"
started is ended. Any other agent may edit files until its next call.`,
		Example: `  ferrus release
  ferrus release -m "the agent is stuck"`,
		Annotations: cli.Reference("", cli.VerdictJSON),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("release")}, from)
		},
	}
	from.MessageFlag(cmd, "`REASON` for the journal")
	a.TaskFlag(cmd)
	return cmd
}
