package run

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// ResumeCommand is ferrus resume.
func ResumeCommand(a *cli.App) *cobra.Command {
	var how conducting
	cmd := &cobra.Command{
		Use:   "resume [--headless] [--now] [--until TIME]",
		Short: "Continue the task with what is on disk",
		Long: `Continues the task after a crash, a stop, an answer or a restart of the machine.
Agents that still run stay. ferrus starts the agent that is missing.`,
		Example: `  ferrus resume
  ferrus resume --headless --branch fix-login`,
		Annotations: cli.Reference(runDetails, runJSON),
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return conduct(a, cmd.Context(), how) },
	}
	how.flags(cmd)
	cmd.Flags().BoolVar(&how.now, "now", false, "do not wait for earlier rate limits and failures")
	return cmd
}
