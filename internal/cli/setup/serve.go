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
		Use:   "serve --role ROLE [FLAGS] | --client NAME | --http ADDRESS",
		Short: "Start the MCP server for agents, over stdio or HTTP",
		Long: `Serves one agent over stdio until it disconnects. With --http or --unix it
serves many, each with a token of "ferrus token new". It is the same program as
ferrusd. "ferrus serve --help" lists its flags. The exit code is 0 after a
disconnect, 130 after ctrl-C and 143 after SIGTERM.`,
		Example: `  ferrus serve --role executor
  ferrus serve --client claude-code
  ferrus serve --http 127.0.0.1:8080`,
		Annotations: cli.Reference(`Most flags belong to --role: ROLE is supervisor or executor, with [--agent-name
NAME] [--agent-index N] [--wait SECS] [--headless]. For systemd set
SuccessExitStatus=143.

--client is for plugins, which start the server in every folder. NAME has its
role of [hq] in ferrus.toml; with both roles or none it is the supervisor. It
has no tools without a project, and none in sessions that ferrus started. If
"ferrus register" has written a server for NAME, only that one has the tools.`, ""),
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			code := server.Main("ferrus serve", serverArgs(args), cli.Metrics)
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
