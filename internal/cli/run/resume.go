package run

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
)

// ResumeCommand is ferrus resume.
func ResumeCommand(a *cli.App) *cobra.Command {
	var how conducting
	cmd := &cobra.Command{
		Use:   "resume [--headless] [--now]",
		Short: "Go on with the task, from what is on disk",
		Long: `Goes on with the task after a crash, a stop, an answer or a restart of the machine: agents that live stay, the one that is
missing is started.

` + runAbout,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return conduct(a, cmd.Context(), how) },
	}
	how.flags(cmd)
	cmd.Flags().BoolVar(&how.now, "now", false, "do not wait for a rate limit, or after a failure, that was there before")
	return cmd
}
