package setup

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/server"
)

// ServeCommand is ferrus serve.
func ServeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "serve --role supervisor|executor [--agent-name NAME] [--agent-index N] [--wait SECS] [--headless] | --http ADDRESS",
		Short: "The MCP server that agents talk to, over stdio or HTTP (ferrusd)",
		Long: `Serves one agent over stdio until it goes away, or with --http or --unix many, each with a token that ferrus token
new made for it: the same as ferrusd. Its flags are its own; ferrus serve --help lists
them. Its exit code is 0 when the agent has gone away, 130 after ctrl-C, 143 after SIGTERM (for systemd:
SuccessExitStatus=143).`,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			code := server.Main("ferrus serve", serverArgs(args))
			if code == cli.ExitCtrlC && a.ErrTTY {
				cli.Fprintf(a.Err, "\n") // the terminal has shown ^C
			}
			if code != 0 {
				return cli.ExitWith(code)
			}
			return nil
		},
	}
}

// serverArgs spells our own flags, which cobra leaves in front, as the server has them.
func serverArgs(args []string) []string {
	var own []string
	for len(args) > 0 {
		switch arg := args[0]; {
		case arg == "--json":
		case arg == "-C" && len(args) > 1:
			own, args = append(own, "--root", args[1]), args[1:]
		case strings.HasPrefix(arg, "-C") && len(arg) > 2:
			own = append(own, "--root", strings.TrimPrefix(arg[2:], "="))
		default:
			return append(own, args...)
		}
		args = args[1:]
	}
	return own
}
