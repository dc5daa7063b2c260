package log

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status/stack"
)

// StackCommand is ferrus stack.
func StackCommand(a *cli.App) *cobra.Command {
	var since, until string
	cmd := &cobra.Command{
		Use:   "stack [AGENT | RUN]",
		Short: "Show what one agent has done, step by step",
		Long: `Shows the steps of an agent, the newest last: what it was told, what it said,
which tools it called, and whom it asked. RUN is a run such as executor-2, or
RUN/WORKER-N of a pipeline. AGENT is executor:codex:1, or a duty such as
reviewer. Without a name it lists the agents and runs that have a stack. The
mark ! is for a step that must not follow the one before it.`,
		Example: `  ferrus stack
  ferrus stack executor-1
  ferrus stack executor:codex:1 --since 8:00 --until 9:00
  ferrus stack reviewer --since "2026-11-23 20:00" --json`,
		Annotations: cli.Reference(`The steps are joined from the journal, the records of runs, the output of the
agent's client and the log of our server. Nothing else is stored. The log has a
digest of the arguments of each call, not the arguments.

A kind is UserMessage, AssistantMessage, ToolCall, ToolResult, AgentCall,
AgentResult, UserRequest, UserResponse or Finished. A client may report no time
for a step: ~ marks the time of the step before it. A message without words,
which a call implies, is only in the JSON.

A clock time without a date is of the day of the newest step. --until is not
included.

After an agent only some kinds are possible. Many clients call several tools at
once, or end without a tool that hands in the work: such steps are marked. The
steps of a worker that is a command are ours. There a step in the wrong place is
an error.`, `one object a line: n kind at approx agent run task tool args text status code
events[]{seq event from to} via implied illegal. Without a name:
[{name agent run task began last over calls}].`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showStack(a, cmd.Context(), strings.Join(args, ""), since, until)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "show only steps from this `TIME` on")
	cmd.Flags().StringVar(&until, "until", "", "show only steps before this `TIME`")
	return cmd
}

func showStack(a *cli.App, ctx context.Context, name, since, until string) error {
	e, err := a.OpenToRead(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	records, damage := stack.Gather(e)
	if records == nil && damage != nil {
		return damage
	}
	if name == "" {
		if since != "" || until != "" {
			return cli.UsageError("ferrus stack executor-1 --since 8:00", "--since and --until need an agent or a run")
		}
		if err := listStacks(a, records); err != nil {
			return err
		}
		return damage
	}
	found := records.Find(name)
	if len(found) == 0 {
		if damage != nil {
			return damage
		}
		return cli.Refuse(refusal.WrongState, "there is no agent or run "+format.Line(name), "ferrus stack lists them")
	}
	entries, refused := found.Stack()
	from, to, err := period(entries, since, until)
	if err != nil {
		return err
	}
	if err := showEntries(a, ctx, entries, from, to); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	return damage
}

// listStacks shows what has a stack, a line each.
func listStacks(a *cli.App, records stack.Records) error {
	list := records.Summaries()
	if a.JSON {
		return a.PrintJSON(list)
	}
	for _, s := range list {
		end := "running"
		switch {
		case s.Over:
			end = "ended " + format.Clock(s.Last)
		case s.Run == "" && !s.Last.IsZero():
			end = "last  " + format.Clock(s.Last)
		}
		a.Say("%s  %s  %s  %s  %s\n", format.Pad(format.Line(s.Name), 34), s.Began.Local().Format(time.DateTime), format.Pad(end, 14),
			format.Pad(format.Line(s.Agent), 24), format.Count(s.Calls, "call", "calls"))
	}
	if len(list) == 0 {
		a.Say("no agent has done anything yet\n")
	}
	return nil
}

// period returns the times between which entries are shown, zero for no limit.
func period(entries []stack.Entry, since, until string) (from, to time.Time, err error) {
	day := time.Now()
	if n := len(entries); n > 0 {
		day = entries[n-1].At
	}
	if from, err = moment(since, day); err != nil {
		return from, to, cli.UsageError("ferrus stack executor-1 --since 8:00", "--since: %v", err)
	}
	if to, err = moment(until, day); err != nil {
		return from, to, cli.UsageError("ferrus stack executor-1 --until 9:00", "--until: %v", err)
	}
	if !from.IsZero() && !to.IsZero() && !to.After(from) {
		return from, to, cli.UsageError("ferrus stack executor-1 --since 8:00 --until 9:00", "--until %s is not after --since %s", until, since)
	}
	return from, to, nil
}

// clocks are the forms of a time of day, dates those of a time with a date.
var (
	clocks = []string{"15", "15:04", "15:04:05"}
	dates  = []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05"}
)

// moment reads a time where the person is. A time of day is one of the day; "" is the zero time.
func moment(text string, day time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range clocks {
		if t, err := time.Parse(form, text); err == nil {
			y, m, d := day.Local().Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.Local), nil
		}
	}
	for _, form := range dates {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 8:00 or \"2026-11-23 20:00\"", text)
}

// kindColour is the colour of an entry.
var kindColour = map[stack.Kind]string{stack.UserMessage: cli.Bold, stack.UserResponse: cli.Bold, stack.UserRequest: cli.Yellow,
	stack.ToolCall: cli.Blue, stack.ToolResult: cli.Dim, stack.Finished: cli.Dim}

func showEntries(a *cli.App, ctx context.Context, entries []stack.Entry, from, to time.Time) error {
	shown, marked, head := 0, 0, ""
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.At.Before(from) || !to.IsZero() && !e.At.Before(to) {
			continue
		}
		shown++
		if a.JSON {
			if err := a.PrintJSONLine(e); err != nil {
				return err
			}
			continue
		}
		if e.Implied {
			continue
		}
		if h := heading(e); h != head {
			a.Say("%s\n", a.Paint(cli.Bold, h))
			head = h
		}
		if e.Illegal != "" {
			marked++
		}
		showEntry(a, e)
	}
	switch {
	case a.JSON:
	case shown == 0:
		a.Say("no step is in this time\n")
	case marked > 0:
		a.Say("%s marked !\n", format.Count(marked, "step is", "steps are"))
	}
	return nil
}

// heading names what an entry belongs to.
func heading(e stack.Entry) string {
	words := []string{e.At.Local().Format(time.DateOnly), e.Agent}
	if e.Run != "" {
		words = append(words, e.Run)
	}
	return format.Line(strings.Join(words, "  "))
}

// longest is how many characters of a text are in a line.
const longest = 160

func showEntry(a *cli.App, e stack.Entry) {
	mark, about := ' ', ' '
	if e.Illegal != "" {
		mark = '!'
	}
	if e.Approx {
		about = '~'
	}
	var words []string
	for _, w := range []string{e.Tool, e.Status, e.Code, format.Clip(format.Line(e.Text), longest)} {
		if w != "" && (w != e.Tool || !strings.Contains(e.Text, e.Tool)) {
			words = append(words, format.Line(w))
		}
	}
	for _, ev := range e.Events {
		words = append(words, fmt.Sprintf("[%d %s]", ev.Seq, format.Line(ev.Event)))
	}
	if e.Illegal != "" {
		words = append(words, "("+e.Illegal+")")
	}
	a.Say("%4d%c%c%s  %s %s\n", e.N, mark, about, format.Clock(e.At), a.Paint(kindColour[e.Kind], fmt.Sprintf("%-16s", e.Kind)), strings.Join(words, " "))
}
