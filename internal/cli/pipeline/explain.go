package pipeline

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

func pipelineExplainCommand(a *cli.App) *cobra.Command {
	var newest int
	cmd := &cobra.Command{
		Use:   "explain [RUN] [-n N]",
		Short: "Explain the next step of a run",
		Long: `Prints the decision table with an arrow at the rule that applies now, and what
the rule does. Then it prints the newest lines of the journal of the run.`,
		Example: `  ferrus pipeline explain
  ferrus pipeline explain -n 0`,
		Annotations: cli.Reference(`The decision depends only on workflow.json, status.json and the files beside
them.`, `run action{row do ...} events[{at rev event row roles reason why by tell run
state}].`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(a, finished),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explainRun(a, cmd.Context(), strings.Join(args, ""), newest)
		},
	}
	cmd.Flags().IntVarP(&newest, "number", "n", 10, "show the newest `N` lines of the journal; 0 for all")
	return cmd
}

func explainRun(a *cli.App, ctx context.Context, name string, newest int) error {
	if newest < 0 {
		return cli.UsageError("ferrus pipeline explain -n 20", "-n %d is not a number of lines", newest)
	}
	at, _, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	f, err := newestRun(a, at, name)
	if err != nil {
		return err
	}
	v, err := f.View(time.Now())
	if err != nil {
		return err
	}
	lines, err := f.Lines()
	if err != nil {
		return err
	}
	if newest > 0 {
		lines = lines[max(0, len(lines)-newest):]
	}
	deeds := []EventJSON{}
	for _, l := range lines {
		deeds = append(deeds, deedOf(f.Name(), l))
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"run": f.Name(), "action": status.DecisionOf(v.Action), "events": deeds})
	}
	a.Say("%s\n", pipeline.Explain(v.Facts))
	for i, d := range deeds {
		a.Say("%4d  %s  %-14s  %s\n", d.Rev, format.Clock(d.At), d.Event, format.Line(strings.TrimPrefix(eventText(lines[i]), d.Event+" ")))
	}
	return nil
}
