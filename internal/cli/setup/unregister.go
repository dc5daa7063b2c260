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
		Short: "Take out again what register wrote",
		Long: `Takes what is ours out of the clients' project files, of both roles unless one is named. The rest of the files stays as
it is; files and folders that register made, and that hold nothing else, go. [hq] of ferrus.toml stays: it says which agents
ferrus run starts.` + registerJSON,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runUnregister(a, cmd.Context(), which, show) },
	}
	cmd.Flags().BoolVar(&which[0], "supervisor", false, "only what makes a client the supervisor")
	cmd.Flags().BoolVar(&which[1], "executor", false, "only what makes a client the executor")
	cmd.Flags().BoolVar(&show, "print", false, "show what would be taken out, and write nothing")
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
			return Unregistered(err)
		}
	}
	for i, role := range Seats {
		if which[i] {
			delete(want, role)
		}
	}
	plan, err := project.Plan(want)
	if err != nil {
		return Unregistered(err)
	}
	return carryOut(a, project, plan, show)
}
