// Package log has the commands that show the past: log, show, logs, stack and evidence.
package log

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/status"
)

// LogCommand is ferrus log.
func LogCommand(a *cli.App) *cobra.Command {
	var newest int
	var durations, all bool
	cmd := &cobra.Command{
		Use:   "log [-n N] [--all]",
		Short: "Show the events of the task, one per line",
		Long: `Shows the journal, oldest entry first: number, time, actor, event, states and a
note. Every line is verified by its hash. At an altered line ferrus stops with
exit code 8. The mark ┆ is for entries that a rollback abandoned, ├─ for a
branch that starts there, and │ for entries that a branch shares. With --all it
shows the project, its branches and the runs of its pipelines together. On a
terminal the output goes through $PAGER, or less.`,
		Example: `  ferrus log
  ferrus log -n 20 --durations
  ferrus log --branch fix-login --json
  ferrus log --all -n 50`,
		Annotations: cli.Reference(`With --all the entries are sorted by time, and each line begins with the name of
its machine: project, a branch, or a run of a pipeline. An entry that a branch
shares is shown once. The number of an entry of a pipeline is the revision of
its status.`, `one object a line: seq at actor{role agent session tty} event from to epoch
note. A rollback also has back, and what ferrus did by a rule has rule. An
abandoned entry has abandoned. branches[] are the branches that start there.
shared marks entries that a branch shares. With --all each line also has machine
and kind, which is project, branch or pipeline, and neither branches nor shared.
A line of a pipeline has seq at event roles state note by.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if newest < 0 {
				return cli.UsageError("ferrus log{branch} -n 20", "-n %d is not a number of events", newest)
			}
			if all {
				if a.Branch != "" {
					return cli.UsageError("ferrus log --all", "--all shows every branch; leave out --branch")
				}
				return a.Paged(cmd.Context(), func() error { return everywhere(a, cmd.Context(), newest, durations) })
			}
			return a.Paged(cmd.Context(), func() error { return showLog(a, cmd.Context(), newest, durations) })
		},
	}
	cmd.Flags().IntVarP(&newest, "number", "n", 0, "show only the newest `N` events")
	cmd.Flags().BoolVar(&all, "all", false, "show all machines of the project")
	cmd.Flags().BoolVar(&durations, "durations", false, "show the time since the event before")
	return cmd
}

func showLog(a *cli.App, ctx context.Context, newest int, durations bool) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	list, damage := status.History(e, newest)
	leaving := status.Forks(e)
	day := time.Now().Format(time.DateOnly)
	for _, p := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a.JSON {
			l := p.LineJSON()
			marks(p, l, leaving[p.H])
			if err := a.PrintJSONLine(l); err != nil {
				return err
			}
			continue
		}
		if d := p.At.Local().Format(time.DateOnly); d != day {
			a.Say("%s\n", a.Paint(cli.Dim, "      "+d))
			day = d
		}
		ShowEvent(a, p, durations)
		leaves(a, leaving[p.H])
	}
	if !a.JSON && damage == nil {
		if head, err := status.ReadHead(ctx, e, ""); err == nil && head != nil {
			a.Say("%s\n", a.Paint(cli.Yellow, "      notice  head: "+format.Line(head.String())))
		}
	}
	if len(list) == 0 && damage == nil && !a.JSON {
		a.Say("there are no events yet\n")
	}
	return damage
}

// ShowEvent prints an event in a line, with durations if they are asked for.
func ShowEvent(a *cli.App, p status.Event, durations bool) {
	took := ""
	if durations {
		took = fmt.Sprintf("%8s", "")
		if !p.Before.IsZero() {
			took = fmt.Sprintf("%8s", "+"+format.Duration(p.At.Sub(p.Before)))
		}
	}
	moved := ""
	if p.From != p.To {
		moved = fmt.Sprintf("%s → %s", p.From, p.To)
	}
	who := fmt.Sprintf("%-25s", format.Line(p.Actor.Agent))
	text := fmt.Sprintf("%-16s %-28s %s", p.Event, moved, p.NoteText())
	gutter, colour := gutter(p)
	a.Say("%4d%s %s%s  %s %s\n", p.Seq, gutter, format.Clock(p.At), took, a.Paint(colour, who), strings.TrimRight(text, " "))
}
