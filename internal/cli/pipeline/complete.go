package pipeline

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline/run"
)

// A which says which runs a shell completes, the newest last.
type which func(at run.Place) ([]string, error)

// finished are runs that have ended, and active ones, which may have.
func finished(at run.Place) ([]string, error) {
	over, err := at.Archived()
	if err != nil {
		return nil, err
	}
	names, err := at.Names()
	return append(over, names...), err
}

func active(at run.Place) ([]string, error) { return at.Names() }

type completion = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective)

// completeRuns completes a first argument that is the name of a run. Errors complete nothing.
func completeRuns(a *cli.App, of which) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		at, _, err := Runs(a, cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, _ := of(at)
		slices.Reverse(names)
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeFrom completes the flag --from by the roles and phases of the run that the command line names, or of the only
// one there is.
func completeFrom(a *cli.App, cmd *cobra.Command, of which) {
	err := cmd.RegisterFlagCompletionFunc("from", func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		at, _, err := Runs(a, cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) == 0 {
			if args, err = of(at); err != nil || len(args) != 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		}
		f, err := at.Open(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return places(f.Workflow), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}
