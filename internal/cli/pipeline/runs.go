package pipeline

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

func pipelineRunsCommand(a *cli.App) *cobra.Command {
	var newest int
	cmd := &cobra.Command{
		Use:   "runs [-n N]",
		Short: "List the active and the finished runs",
		Long: `Lists the runs of pipelines, the newest first: their state, when they were
started and their topic. "ferrus pipeline status RUN" shows one of them.`,
		Example: `  ferrus pipeline runs
  ferrus pipeline runs -n 100 --json`,
		Annotations: cli.Reference("", "[{run topic state archived dir created_at rerun_of variant\nerror}], the newest first."),
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return listRuns(a, cmd.Context(), newest) },
	}
	cmd.Flags().IntVarP(&newest, "newest", "n", 20, "show at most `N` finished runs")
	return cmd
}

func listRuns(a *cli.App, ctx context.Context, newest int) error {
	if newest < 0 {
		return cli.UsageError("ferrus pipeline runs -n 20", "-n must not be negative")
	}
	at, _, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	list, more, err := status.Runs(at, newest)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(list)
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Run)
	}
	name := a.Names(30, names)
	for _, r := range list {
		where := "active"
		if r.Archived {
			where = "archived"
		}
		a.Say("%s  %-8s  %s  %s\n", name(r.Run), where, a.Paint(cli.RunColour[r.State], format.Pad(r.Outcome(), 10)), r.About())
	}
	switch {
	case len(list) == 0:
		a.Say("there are no runs; ferrus pipeline NAME TOPIC starts one\n")
	case more > 0:
		a.Say("and %d more; ferrus pipeline runs -n %d shows them\n", more, newest+more)
	}
	return nil
}
