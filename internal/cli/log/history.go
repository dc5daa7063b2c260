package log

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// HistoryCommand is ferrus history.
func HistoryCommand(a *cli.App) *cobra.Command {
	var s status.Search
	var since string
	cmd := &cobra.Command{
		Use:   "history [WORD...]",
		Short: "Find tasks that are over",
		Long: `Lists the tasks that are over, of the project and of all its branches, the
newest first. Each WORD must be in its title, its id, its branch, one of its
documents or the path of a file that it changed. Documents are the task,
questions, answers, summaries and reviews. "ferrus show TASK-ID" shows one task.`,
		Example: `  ferrus history receipt
  ferrus history --state failed --since 7d
  ferrus history cart.go --agent codex --json`,
		Annotations: cli.Reference("", `[{branch removed task_id title state at error agents dir}].`),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Words = strings.Fields(strings.Join(args, " "))
			return showHistory(a, cmd.Context(), s, since)
		},
	}
	cmd.Flags().StringVar(&s.State, "state", "", "only tasks that ended as `STATE`: approved, failed or abandoned")
	cmd.Flags().StringVar(&s.Agent, "agent", "", "only tasks of the `AGENT`, such as codex")
	cmd.Flags().StringVar(&since, "since", "", "only tasks that ended since `TIME`: 7d, 12h, or a date such as 2026-11-01")
	return cmd
}

func showHistory(a *cli.App, ctx context.Context, s status.Search, since string) error {
	var err error
	if s.Since, err = sinceTime(since, time.Now()); err != nil {
		return err
	}
	if s.State != "" && s.State != "approved" && s.State != "failed" && s.State != "abandoned" {
		return cli.UsageError("ferrus history --state failed", "a task ends as approved, failed or abandoned, and not as %q", s.State)
	}
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	list, err := status.ReadHistory(e.Place().Root, s, e.Foreign() == nil)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]status.PastTask{}, list...))
	}
	if len(list) == 0 {
		a.Say("no task that is over %s\n", map[bool]string{true: "yet", false: "is found"}[s.Zero()])
		return nil
	}
	var names []string
	for _, t := range list {
		names = append(names, cmp.Or(t.Branch, "project"))
	}
	name := a.Names(14, names)
	for _, t := range list {
		when := "-"
		if !t.At.IsZero() {
			when = cli.Moment(t.At)
		}
		title := format.Clip(format.Line(t.Title), 60)
		if t.Error != "" {
			title = "cannot be read: " + format.Line(t.Error)
		}
		a.Say("%-16s  %s  %s %s  %s\n", when, a.Paint(cli.ColourOf(t.State), format.Pad(t.Outcome(), 9)), name(cmp.Or(t.Branch, "project")), t.TaskID, title)
	}
	return nil
}

// sinceTime reads a time of the past: so many days or hours ago, or a date.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	if span, ok := cli.Span(text); ok {
		return now.Add(-span), nil
	}
	return time.Time{}, cli.UsageError("ferrus history --since 7d", "--since takes days (7d), hours (12h) or a date (2026-11-01), and not %q", text)
}

// showPast shows a task that is over.
func showPast(a *cli.App, ctx context.Context, id string) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	p, err := status.ReadPast(e.Place().Root, id)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Refuse(refusal.WrongState, "no task "+id+" is over in this project", "ferrus history lists those that are; ferrus status{branch} shows the present one")
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(p)
	}
	a.Say("%s  %s  %s\n", p.TaskID, a.Paint(cli.Bold, format.Line(p.Title)), a.Paint(cli.ColourOf(p.State), p.Outcome()))
	if p.Branch != "" {
		a.ShowRow("branch", p.Branch+map[bool]string{true: ", which was removed"}[p.Removed])
	}
	a.ShowRow("ended", p.At.Local().Format(time.RFC3339))
	if p.Error != "" {
		a.ShowRow("error", format.Line(p.Error))
	}
	a.Say("\n")
	for _, t := range p.Timeline {
		a.Say("%5d  %s  %-16s %s\n", t.Seq, t.At.Local().Format("2006-01-02 15:04:05"), t.Event, format.Line(strings.TrimSpace(t.By+"  "+t.Text)))
	}
	for _, d := range p.Documents {
		a.Say("\n%s\n%s\n", a.Paint(cli.Bold, string(d.Name)), format.Frame(d.Text, "  "))
	}
	return nil
}
