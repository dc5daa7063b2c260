package run

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/status"
)

// StopCommand is ferrus stop.
func StopCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the run and its agents; the task stays as it is",
		Long: `Ends the "ferrus run" or "ferrus resume" of this task, and all agents that it
started. The task stays as it is, and "ferrus resume" continues it. Agents that
you started yourself stay. A run with --parallel ends as a whole. The run itself
exits with code 9.`,
		Example: `  ferrus stop
  ferrus stop --json`,
		Annotations: cli.Reference("", "conductor (process id, 0 if there was none) ended[] state."),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("stop")}, cli.Source{})
		},
	}
}
