package setup

import (
	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/server"
)

// VersionCommand is ferrus version.
func VersionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Prints the version of ferrus, of Go, the platform, and the commit.",
		Example: `  ferrus version
  ferrus version --json`,
		Annotations: cli.Reference("", "version go platform, and commit date where they are known."),
		Args:        cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON(server.Built())
			}
			a.Say("%s\n", VersionText())
			return nil
		},
	}
}

// VersionText is the version of the program as `ferrus version` prints it.
func VersionText() string { return "ferrus " + server.Build() }
