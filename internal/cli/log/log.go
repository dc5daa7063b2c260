// Package log has the commands that show the past: log, show and logs.
package log

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/format"
	"github.com/ferrus-go/ferrus/internal/history"
)

// LogCommand is ferrus log.
func LogCommand(a *cli.App) *cobra.Command {
	var newest int
	var durations bool
	cmd := &cobra.Command{
		Use:   "log [-n N]",
		Short: "What happened, one line an event",
		Long: `Prints the journal, oldest first: sequence number, time, actor, event, from where to where, and what there is to say.
Every line shown is checked against its hash and the one before; at an altered one it stops with exit code 8. What a rollback
has left behind is marked with ┆; ferrus rollback can return to it as well. ├─ is a branch that goes on by itself from
there; in the log of a branch │ is what it shares with where it comes from.

With --json one object a line: seq at actor{role agent session tty} event from to epoch note, of a rollback
back, abandoned of what one has left behind, branches[] that leave there, and shared.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if newest < 0 {
				return cli.UsageError("ferrus log -n 20", "-n %d is no number of events", newest)
			}
			return showLog(a, cmd.Context(), newest, durations)
		},
	}
	cmd.Flags().IntVarP(&newest, "number", "n", 0, "only the newest `N` events")
	cmd.Flags().BoolVar(&durations, "durations", false, "how long after the event before")
	return cmd
}

func showLog(a *cli.App, ctx context.Context, newest int, durations bool) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	list, damage := history.Read(e, newest)
	share(list, e.Place().Branch)
	leaving := forks(e)
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
	if len(list) == 0 && damage == nil && !a.JSON {
		a.Say("nothing has happened yet\n")
	}
	return damage
}

// ShowEvent prints an event in a line, with durations if they are asked for.
func ShowEvent(a *cli.App, p history.Event, durations bool) {
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
