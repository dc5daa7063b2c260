package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

func pipelineStatusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status [RUN]",
		Short: "Show a run, what it waits for and what you can do",
		Long: `Shows the phases and workers of a run, their outputs and the delivery of the
result. It also shows what the run waits for and the commands that help next.
Without RUN, and if no run is active, it shows the newest archived run.`,
		Example: `  ferrus pipeline status
  ferrus pipeline status research-180141 --json`,
		Annotations: cli.Reference(`status is status.json, updated from the files. action is what would be done
next, or null when the run is over.`, `run dir topic archived conductor rerun{run from
outputs[{file roles[] sha256}]} status{...} delivery{...} action{row do phase
roles why until person ...} workers[{role phase alive waiting runs[]}]
waiting{for[] why until} questions[{id by at text options[] command}]
next[{command why}].`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(a, finished),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pipelineStatus(a, cmd.Context(), strings.Join(args, ""))
		},
	}
}

func pipelineStatus(a *cli.App, ctx context.Context, name string) error {
	at, _, err := Runs(a, ctx)
	if err != nil {
		return err
	}
	f, err := newestRun(a, at, name)
	if err != nil {
		return err
	}
	l, err := status.ReadRun(at, f, time.Now())
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(l)
	}
	showRun(a, l, time.Now())
	return nil
}

// showRun prints a run on one screen.
func showRun(a *cli.App, l *status.RunStatus, now time.Time) {
	s := l.Status
	a.Say("%s  %-44s  %s\n", l.Run, format.Line(l.Topic), a.Paint(colourOr(s.State), string(s.State)))
	for i, p := range s.Phases {
		a.Say("  %s\n", a.Paint(cli.PhaseColour[p.Status], status.PhaseWords(i, p)))
		for _, k := range p.Workers {
			a.Say("    %s\n", a.Paint(cli.PhaseColour[k.Status], status.WorkerWords(l.View, k, now)))
			for _, line := range status.Printed(l.View, k) {
				a.Say("      | %s\n", line)
			}
		}
	}
	if o := l.Rerun; o != nil {
		a.ShowRow("rerun", fmt.Sprintf("of %s, from %s, with %s of it", o.Run, o.From, format.Count(len(o.Outputs), "output", "outputs")))
	}
	if l.Variant != "" {
		a.ShowRow("variant", "every agent is "+l.Variant)
	}
	if d := l.Delivery; d != nil {
		text := fmt.Sprintf("%s to %s by %s, %s ago", d.State, d.Target, d.By, format.Age(d.At))
		if l.Partial() {
			text += ", marked PARTIAL"
		}
		a.ShowRow("result", text)
	}
	if l.Conductor != 0 {
		a.ShowRow("conductor", fmt.Sprintf("process %d", l.Conductor))
	}
	for _, q := range l.Questions {
		a.ShowRow("question", fmt.Sprintf("%s from %s, %s ago: %s", q.ID, q.By, format.Age(q.At), format.Line(q.Text)))
		for _, option := range q.Options {
			a.Say("    %s\n", format.Line(option))
		}
	}
	if text := l.WaitText(now); text != "" {
		a.ShowRow("waiting", text)
	}
	if l.Archived {
		a.ShowRow("archived", l.Dir)
	}
	a.ShowSteps(l.Next)
}

func colourOr(s pipeline.State) string {
	if c := cli.RunColour[s]; c != "" {
		return c
	}
	return cli.Bold
}
