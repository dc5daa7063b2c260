package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/status"
)

func pipelineStatusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status [RUN]",
		Short: "How a run of a pipeline stands, who is waited for, what you can do",
		Long: `Shows a run: its phases and workers, what they have written, what became of the result, who is waited for, and which
commands move it on. When no RUN is named and none is under way, that is the newest one of the archive.

With --json: run dir topic archived conductor status{...} delivery{...} action{row do phase roles why until person ...}
workers[{role phase alive waiting runs[]}] waiting{for[] why until} next[{command why}]. status is status.json, brought up to date
with the files; action is what would be done next, null when the run is over.`,
		Args: cobra.MaximumNArgs(1),
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
		}
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
