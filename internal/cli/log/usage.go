package log

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/records"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// UsageCommand is ferrus usage.
func UsageCommand(a *cli.App) *cobra.Command {
	var since, by string
	allow := false
	cmd := &cobra.Command{
		Use:   "usage [--since TIME] [--by GROUP] [--allow-today]",
		Short: "Show what agents have used, and lift a limit of the day",
		Long: `Adds up the runs of the agents of this project: their number, their time, the
tokens and the dollars that they report. It counts present and past tasks, the
branches, also removed ones, and pipelines. Where agents report nothing there is
a dash. --by project compares all your projects on this computer. --allow-today
lets agents start until midnight, whatever limits.max_day_* say.`,
		Example: `  ferrus usage
  ferrus usage --since 7d --by agent
  ferrus usage --by project --json
  ferrus usage --allow-today`,
		Annotations: cli.Reference(`A run counts in full on the day on which its agent started, in limits.day_zone.
Tokens that a client read from its cache are counted apart. A dollar amount with
a + is incomplete: some of the runs report tokens and no dollars.

The limits of a day, limits.max_day_minutes, max_day_tokens and max_day_dollars,
are checked before an agent starts. Running agents are not ended. In ferrus.toml
they hold for the project; its lower value and the one that you have agreed to
("ferrus trust") counts. In your own config.toml they hold for all projects that
--by project lists, with the runs of this computer.

--allow-today holds for this project on this computer, until midnight. Only a
person may use it.`, `since by zone groups[{name runs seconds usage{input_tokens
cached_input_tokens output_tokens dollars} incomplete}] total{...} limit{text
until} unread[{project error}]. With --allow-today: until.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if allow {
				return a.Decide(cmd.Context(), status.Request{Kind: status.ActNamed("allow-today")}, cli.Source{})
			}
			return showUsage(a, cmd.Context(), by, since)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only runs that started since `TIME`: 7d, 12h, or a date such as 2026-11-01")
	cmd.Flags().StringVar(&by, "by", "day", "a line for each `GROUP`: "+strings.Join(records.Groups(), ", "))
	cmd.Flags().BoolVar(&allow, "allow-today", false, "let agents start until midnight in spite of the limits of the day")
	return cmd
}

func showUsage(a *cli.App, ctx context.Context, by, since string) error {
	if !slices.Contains(records.Groups(), by) {
		return cli.UsageError("ferrus usage --by agent", "--by takes %s, and not %q", strings.Join(records.Groups(), ", "), by)
	}
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	root := e.Place().Root
	own, _, err := records.Limits(root)
	if err != nil {
		return refusal.Config(err)
	}
	zone, err := own.Location()
	if err != nil {
		return refusal.Config(err)
	}
	now := time.Now().In(zone)
	o := records.Options{Now: now, Index: e.Foreign() == nil}
	if o.Since, err = sinceTime(since, now); err != nil {
		return err
	}
	var runs []records.Run
	unread := map[string]error{}
	ctx, end := a.Working(ctx, "reading the records of the runs,")
	if by == "project" {
		runs, unread, err = records.ReadAll(ctx, o)
	} else {
		runs, err = records.Read(ctx, root, o)
	}
	limit := records.Limit{}
	if err == nil {
		limit, err = records.UsedUp(ctx, root, now)
	}
	end()
	if err != nil {
		return err
	}
	groups, total := records.GroupBy(runs, by, zone), records.Sum(runs)
	if a.JSON {
		shown := map[string]any{"by": by, "zone": zone.String(), "groups": groups, "total": total}
		if !o.Since.IsZero() {
			shown["since"] = o.Since
		}
		if limit.Text != "" {
			shown["limit"] = map[string]any{"text": limit.Text, "until": limit.Until}
		}
		if len(unread) > 0 {
			shown["unread"] = unreadJSON(unread)
		}
		return a.PrintJSON(shown)
	}
	if len(runs) == 0 {
		a.Say("no agent has run %s\n", map[bool]string{true: "yet", false: "since then"}[o.Since.IsZero()])
	} else {
		total.Name = "total"
		tableOf(a, append(groups, total))
	}
	for _, path := range slices.Sorted(maps.Keys(unread)) {
		a.Say("%s\n", a.Paint(cli.Yellow, format.Line("not read: "+unread[path].Error())))
	}
	if limit.Text != "" {
		a.Say("\n%s\n", a.Paint(cli.Yellow, limit.Need()))
		a.ShowSteps([]status.Step{{Command: records.Allow, Why: "lets them start"}})
	}
	return nil
}

// tableOf prints sums, a line each. What no run reports is a dash.
func tableOf(a *cli.App, lines []records.Line) {
	rows := [][]string{{"", "runs", "time", "input", "cached", "output", "dollars"}}
	for _, l := range lines {
		u, dollars := l.Usage, fmt.Sprintf("%.2f", l.Usage.Dollars)
		switch {
		case l.Priced == 0:
			dollars = "-"
		case l.Incomplete:
			dollars += "+"
		}
		row := []string{format.Line(cmp.Or(l.Name, "-")), fmt.Sprint(l.Runs), format.Duration(l.Time)}
		for _, n := range []int64{u.Input - u.Cached, u.Cached, u.Output} {
			row = append(row, map[bool]string{true: status.Tokens(n), false: "-"}[l.Counted > 0])
		}
		rows = append(rows, append(row, dollars))
	}
	widths := widthsOf(rows)
	for _, row := range rows {
		text := format.Pad(row[0], widths[0])
		for i, cell := range row[1:] {
			text += strings.Repeat(" ", 2+widths[i+1]-format.Width(cell)) + cell
		}
		a.Say("%s\n", text)
	}
}

// widthsOf are the widths of the columns of a table.
func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], format.Width(cell))
		}
	}
	return widths
}

// unreadJSON are the projects that cannot be read.
func unreadJSON(unread map[string]error) (list []map[string]string) {
	for _, path := range slices.Sorted(maps.Keys(unread)) {
		list = append(list, map[string]string{"project": path, "error": unread[path].Error()})
	}
	return list
}
