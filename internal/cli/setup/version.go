package setup

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/server"
)

// VersionCommand is ferrus version.
func VersionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Prints the version of ferrus, of Go, and the platform.",
		Example: `  ferrus version
  ferrus version --json`,
		Annotations: cli.Reference("", "version go platform."),
		Args:        cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if a.JSON {
				return a.PrintJSON(map[string]any{"version": server.Version(), "go": runtime.Version(), "platform": platform})
			}
			a.Say("%s\n", VersionText())
			return nil
		},
	}
}

// VersionText is the version of the program as `ferrus version` prints it.
func VersionText() string { return "ferrus " + server.Build() }
