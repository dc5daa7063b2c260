package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/server"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Which ferrus this is",
		Long:  "Prints the version.\n\nWith --json: version go platform.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if a.json {
				return a.print(map[string]any{"version": server.Version(), "go": runtime.Version(), "platform": platform})
			}
			a.say("%s\n", versionText())
			return nil
		},
	}
}

func versionText() string { return "ferrus " + server.Build() }
