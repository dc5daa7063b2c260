package setup

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/cli"
)

// UnregisterCommand is ferrus unregister.
func UnregisterCommand(a *cli.App) *cobra.Command {
	var which [2]bool // of the supervisor and the executor
	var show bool
	cmd := &cobra.Command{
		Use:   "unregister [--supervisor] [--executor]",
		Short: "Undo register",
		Long: `Removes what "ferrus register" wrote into the clients' project files, for both
roles unless you name one. Other content stays as it is. Files and folders that
register created and that are now empty are deleted. [hq] in ferrus.toml stays.`,
		Example: `  ferrus unregister
  ferrus unregister --executor --print`,
		Annotations: cli.Reference("", registerJSON),
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return runUnregister(a, cmd.Context(), which, show) },
	}
	cmd.Flags().BoolVar(&which[0], "supervisor", false, "only for the supervisor")
	cmd.Flags().BoolVar(&which[1], "executor", false, "only for the executor")
	cmd.Flags().BoolVar(&show, "print", false, "print the changes, and write nothing")
	cmd.Flags().SortFlags = false
	return cmd
}

func runUnregister(a *cli.App, ctx context.Context, which [2]bool, show bool) error {
	project, _, err := registry(a, ctx, "unregister")
	if err != nil {
		return err
	}
	want := map[agents.Duty]register.Assignment{}
	if which[0] != which[1] {
		if want, err = project.Registered(); err != nil {
			return err
		}
	}
	for i, role := range Duties {
		if which[i] {
			delete(want, role)
		}
	}
	plan, err := project.Plan(want)
	if err != nil {
		return err
	}
	return carryOut(a, project, plan, show)
}
