package setup

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents/confine"
	"github.com/ferrus-go/ferrus/internal/cli"
)

// ConnectCommand is ferrus connect, which only the client of an agent in a sandbox starts.
func ConnectCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "connect TICKET",
		Short: "Connect an agent in a sandbox with its MCP server outside",
		Long: `Joins stdin and stdout to the MCP server that runs outside of the sandbox of an
executor. The client of the executor starts it. TICKET is a file that ferrus
writes for the run. It ends when the server ends.`,
		Example: "  ferrus connect .ferrus/branches/NAME/executor/in/relay.json",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := confine.ReadTicket(args[0])
			if err != nil {
				return err
			}
			return confine.Connect(cmd.Context(), t, a.In, a.Out)
		},
	}
}
